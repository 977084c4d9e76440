package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.SerializationConflict;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A listener hears of every attempt, and can change nothing. */
class ListenerTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final TxOptions LABELLED = TxOptions.DEFAULT.withLabel("sell");

  private final Attempted attempted = new Attempted();
  private final Transactor transactor = new Transactor(database.dataSource(), LABELLED, attempted);

  @BeforeEach
  void noEntryYet() {
    database.execute("DROP TABLE IF EXISTS entry; CREATE TABLE entry (id int)");
  }

  @Test
  void aSuccessIsOneAttempt() {
    transactor.run(connection -> {});

    assertThat(attempted.attempts())
        .singleElement()
        .satisfies(
            attempt -> {
              assertThat(attempt.label()).isEqualTo("sell");
              assertThat(attempt.number()).isEqualTo(1);
              assertThat(attempt.outcome()).isEqualTo(TxOutcome.COMMITTED);
              assertThat(attempt.fault()).isEmpty();
              assertThat(attempt.backoff()).isZero();
              assertThat(attempt.duration()).isGreaterThanOrEqualTo(attempt.connectionWait());
            });
  }

  @Test
  void everyRetryIsHeardWithItsReasonAndItsBackoff() {
    RetryPolicy thrice = new RetryPolicy(3, Duration.ofMillis(1), Duration.ofMillis(4));

    assertThatThrownBy(() -> transactor.run(LABELLED.withRetry(thrice), JoiningTest::conflict))
        .isInstanceOf(SerializationConflict.class)
        .hasMessageContaining("after 3 attempts");

    assertThat(attempted.outcomes())
        .containsExactly(TxOutcome.RETRIED, TxOutcome.RETRIED, TxOutcome.FAILED);
    assertThat(attempted.attempts()).extracting(TxAttempt::number).containsExactly(1, 2, 3);
    assertThat(attempted.faults(SqlFault.SERIALIZATION)).isEqualTo(3);
    assertThat(attempted.attempts())
        .allSatisfy(a -> assertThat(a.backoff()).isLessThanOrEqualTo(Duration.ofMillis(2)));
    assertThat(attempted.attempts().get(2).backoff()).isZero();
  }

  @Test
  void aFailureOfTheFunctionIsHeardWithoutAFault() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    connection -> {
                      throw new IllegalArgumentException("changed my mind");
                    }))
        .hasMessage("changed my mind");

    assertThat(attempted.outcomes()).containsExactly(TxOutcome.FAILED);
    assertThat(attempted.attempts().get(0).fault()).isEmpty();
  }

  @Test
  void anErrorOfTheFunctionPassesUnchangedAndNothingIsCommitted() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    connection -> {
                      Sql.execute(connection, "INSERT INTO entry VALUES (1)");
                      throw new StackOverflowError("deep");
                    }))
        .isInstanceOf(StackOverflowError.class);

    assertThat(database.queryLong("SELECT count(*) FROM entry")).isZero();
  }

  @ParameterizedTest
  @MethodSource("whatAListenerMayThrow")
  void aListenerThatThrowsChangesNothing(Throwable thrown) {
    Transactor heard =
        new Transactor(
            database.dataSource(),
            LABELLED,
            attempt -> {
              if (thrown instanceof Error e) {
                throw e;
              }
              throw (RuntimeException) thrown;
            });

    heard.run(connection -> Sql.execute(connection, "INSERT INTO entry VALUES (1)"));
    assertThatThrownBy(
            () -> heard.run(LABELLED.withRetry(RetryPolicy.NEVER), JoiningTest::conflict))
        .isInstanceOf(SerializationConflict.class);

    assertThat(database.queryLong("SELECT count(*) FROM entry")).isEqualTo(1);
  }

  private static List<Throwable> whatAListenerMayThrow() {
    return List.of(
        new IllegalStateException("metrics are down"),
        SqlFault.SERIALIZATION.asException("looks like a conflict", new IllegalStateException()),
        new OutcomeUnknown("looks like a doubt", null),
        new NoClassDefFoundError("metrics"));
  }
}
