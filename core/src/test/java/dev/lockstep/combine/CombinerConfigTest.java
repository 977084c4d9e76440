package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.lockstep.tx.TxOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The limits of a combiner, at their edges. */
class CombinerConfigTest {
  private static final CombinerConfig CONFIG = CombinerConfig.named("limits");

  @Test
  void theDefaultsAreAsDocumented() {
    assertThat(CONFIG)
        .isEqualTo(
            new CombinerConfig(
                "limits",
                4,
                500,
                100_000,
                20_000,
                Duration.ZERO,
                Duration.ofSeconds(10),
                TxOptions.DEFAULT
                    .withLabel("limits")
                    .withStatementTimeout(Duration.ofSeconds(8))
                    .withIdleTimeout(Duration.ofMillis(2_500))
                    .withTransactionTimeout(Duration.ofSeconds(8))
                    .withIndexLookups(),
                CombinerListener.NONE));
  }

  @Test
  void everyLimitIsAtLeastOne() {
    assertThatIllegalArgumentException().isThrownBy(() -> CONFIG.withMaxWriters(0));
    assertThatIllegalArgumentException().isThrownBy(() -> CONFIG.withMaxBatch(0));
    assertThatIllegalArgumentException().isThrownBy(() -> CONFIG.withMaxWaiting(1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> CONFIG.withMaxWaiting(0, 0));
    assertThat(CONFIG.withMaxWriters(1).withMaxBatch(1).withMaxWaiting(1, 1)).isNotNull();
  }

  @Test
  void oneKeyCannotHaveMoreThanAll() {
    assertThatIllegalArgumentException().isThrownBy(() -> CONFIG.withMaxWaiting(10, 11));
    assertThat(CONFIG.withMaxWaiting(10, 10).maxWaitingPerKey()).isEqualTo(10);
  }

  @Test
  void aNameAndTimesMakeSense() {
    assertThatIllegalArgumentException().isThrownBy(() -> CombinerConfig.named(" "));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CONFIG.withDrainTimeout(Duration.ofNanos(-1)));
    assertThat(CONFIG.withDrainTimeout(Duration.ZERO).drainTimeout()).isZero();
    assertThatIllegalArgumentException().isThrownBy(() -> CONFIG.withGather(Duration.ofNanos(-1)));
    assertThat(CONFIG.withGather(Duration.ofMillis(5)).gather()).hasMillis(5);
  }
}
