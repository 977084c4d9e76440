package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The limits of a transaction's options, at their edges. */
class TxOptionsTest {
  private static final Duration TOO_LONG = Duration.ofMillis(Integer.MAX_VALUE + 1L);

  @Test
  void theDefaultsAreAsDocumented() {
    assertThat(TxOptions.DEFAULT.isolation()).isEqualTo(Isolation.READ_COMMITTED);
    assertThat(TxOptions.DEFAULT.readOnly()).isFalse();
    assertThat(TxOptions.DEFAULT.lockTimeout()).isEqualTo(Duration.ofSeconds(3));
    assertThat(TxOptions.DEFAULT.statementTimeout()).isEqualTo(Duration.ofSeconds(10));
    assertThat(TxOptions.DEFAULT.idleTimeout()).isEqualTo(Duration.ofSeconds(5));
    assertThat(TxOptions.DEFAULT.transactionTimeout()).isEqualTo(Duration.ofSeconds(15));
    assertThat(TxOptions.DEFAULT.deadline()).isEqualTo(Duration.ofSeconds(30));
    assertThat(TxOptions.DEFAULT.retry()).isEqualTo(RetryPolicy.DEFAULT);
    assertThat(TxOptions.DEFAULT.indexLookups()).isFalse();
  }

  @Test
  void lessThanAMillisecondWouldSwitchATimeoutOffInTheServer() {
    Duration tooShort = Duration.ofNanos(999_999);

    assertThatIllegalArgumentException()
        .isThrownBy(() -> TxOptions.DEFAULT.withLockTimeout(tooShort));
    assertThatIllegalArgumentException().isThrownBy(() -> TxOptions.DEFAULT.withDeadline(tooShort));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TxOptions.DEFAULT.withStatementTimeout(tooShort));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TxOptions.DEFAULT.withIdleTimeout(tooShort));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TxOptions.DEFAULT.withTransactionTimeout(tooShort));
    assertThat(TxOptions.DEFAULT.withLockTimeout(Duration.ofMillis(1)).lockTimeout())
        .isEqualTo(Duration.ofMillis(1));
  }

  @Test
  void moreThanTheServerCanCountIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TxOptions.DEFAULT.withStatementTimeout(TOO_LONG));
    assertThatIllegalArgumentException().isThrownBy(() -> TxOptions.DEFAULT.withDeadline(TOO_LONG));
    assertThat(TxOptions.DEFAULT.withDeadline(TOO_LONG.minusMillis(1)).deadline())
        .isEqualTo(Duration.ofMillis(Integer.MAX_VALUE));
  }

  @Test
  void aLockTimeoutThatTheStatementTimeoutWouldCutShortIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TxOptions.DEFAULT.withLockTimeout(Duration.ofMillis(10_001)));
    assertThat(TxOptions.DEFAULT.withLockTimeout(Duration.ofSeconds(10)).lockTimeout())
        .isEqualTo(TxOptions.DEFAULT.statementTimeout());
  }
}
