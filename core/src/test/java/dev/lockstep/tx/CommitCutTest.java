package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.CommitFault.Moment;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The connection is lost at COMMIT. To the client every moment looks the same. */
class CommitCutTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private final Attempted attempted = new Attempted();
  private CommitFault fault;
  private Transactor transactor;

  @BeforeEach
  void anAccountAndItsDeposits() {
    database.execute(
        "DROP TABLE IF EXISTS deposit; CREATE TABLE deposit (reference text, amount bigint)");
    fault = CommitFault.on(database);
    transactor = new Transactor(fault.dataSource(), TxOptions.DEFAULT, attempted);
  }

  @AfterEach
  void closeFault() {
    fault.close();
  }

  @ParameterizedTest
  @CsvSource({"BEFORE_COMMIT, 1", "DURING_COMMIT, 1", "AFTER_COMMIT, 2"})
  void runningItAgainBlindlyDoublesTheEffectWhenTheCommitHadArrived(Moment moment, int effects)
      throws SQLException {
    fault.arm(moment);
    try {
      depositByHand();
    } catch (SQLException connectionLost) {
      depositByHand();
    }

    assertThat(fault.fired()).isTrue();
    assertThat(deposits()).isEqualTo(effects);
  }

  @ParameterizedTest
  @EnumSource
  void withALookupTheEffectExistsExactlyOnceAndTheCallerGetsItsAnswer(Moment moment) {
    fault.arm(moment);

    String answer = transactor.call(TxOptions.DEFAULT, this::deposit, CommitCutTest::find);

    assertThat(fault.fired()).isTrue();
    assertThat(deposits()).isEqualTo(1);
    boolean committed = moment == Moment.AFTER_COMMIT;
    assertThat(answer).isEqualTo(committed ? "deposit r1, found" : "deposit r1");
    assertThat(attempted.outcomes())
        .isEqualTo(
            committed
                ? List.of(TxOutcome.FOUND_COMMITTED)
                : List.of(TxOutcome.RETRIED, TxOutcome.COMMITTED));
  }

  @ParameterizedTest
  @EnumSource
  void withoutALookupTheOutcomeIsUnknownAndNothingIsRunAgain(Moment moment) {
    fault.arm(moment);

    assertThatThrownBy(() -> transactor.call(this::deposit)).isInstanceOf(OutcomeUnknown.class);

    assertThat(deposits()).isEqualTo(moment == Moment.AFTER_COMMIT ? 1 : 0);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.UNKNOWN);
  }

  @Test
  void aConnectionLostBeforeCommitIsTriedAgainWithoutALookup() {
    transactor.call(
        connection -> {
          String answer = deposit(connection);
          if (attempted.attempts().isEmpty()) {
            fault.proxy().cut();
          }
          Sql.query(connection, "SELECT 1");
          return answer;
        });

    assertThat(deposits()).isEqualTo(1);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.RETRIED, TxOutcome.COMMITTED);
  }

  @Test
  void aLookupThatFailsLeavesTheOutcomeUnknown() {
    fault.arm(Moment.AFTER_COMMIT);

    assertThatThrownBy(
            () ->
                transactor.call(
                    TxOptions.DEFAULT,
                    this::deposit,
                    connection -> {
                      throw new IllegalArgumentException("a mistake in the lookup");
                    }))
        .isInstanceOf(OutcomeUnknown.class);

    assertThat(deposits()).isEqualTo(1);
  }

  @Test
  void aLookupThatHidesALostConnectionInItsOwnExceptionIsAskedAgain() {
    fault.arm(Moment.AFTER_COMMIT);
    int[] asked = {0};

    transactor.call(
        TxOptions.DEFAULT,
        this::deposit,
        connection -> {
          if (asked[0]++ == 0) {
            throw new IllegalStateException(new SQLException("lost", "08006"));
          }
          return find(connection);
        });

    assertThat(asked[0]).isEqualTo(2);
    assertThat(deposits()).isEqualTo(1);
  }

  @Test
  void aLookupThatDoesNotFindWhatWasCommittedIsNotBelieved() {
    fault.arm(Moment.AFTER_COMMIT);

    assertThatThrownBy(
            () ->
                transactor.call(
                    TxOptions.DEFAULT, this::deposit, connection -> Optional.<String>empty()))
        .isInstanceOf(OutcomeUnknown.class)
        .hasMessageContaining("committed");

    assertThat(deposits()).isEqualTo(1);
  }

  @Test
  void anUnknownOutcomeWrappedByTheFunctionIsNotTakenForALostConnection() {
    Transactor outer = new Transactor(database.dataSource(), TxOptions.DEFAULT, attempted);
    fault.arm(Moment.AFTER_COMMIT);

    assertThatThrownBy(
            () ->
                outer.run(
                    connection -> {
                      try {
                        new Transactor(fault.dataSource()).call(this::deposit);
                      } catch (OutcomeUnknown e) {
                        throw new IllegalStateException("could not deposit", e);
                      }
                    }))
        .isInstanceOf(IllegalStateException.class);

    assertThat(deposits()).as("run once").isEqualTo(1);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.FAILED);
  }

  private String deposit(Connection connection) throws SQLException {
    Sql.execute(connection, "INSERT INTO deposit VALUES ('r1', 10)");
    return "deposit r1";
  }

  private void depositByHand() throws SQLException {
    try (Connection connection = fault.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      deposit(connection);
      connection.commit();
    }
  }

  private static Optional<String> find(Connection connection) throws SQLException {
    long found = Sql.query(connection, "SELECT count(*) FROM deposit WHERE reference = 'r1'");
    return found == 0 ? Optional.empty() : Optional.of("deposit r1, found");
  }

  private static long deposits() {
    return database.queryLong("SELECT count(*) FROM deposit");
  }
}
