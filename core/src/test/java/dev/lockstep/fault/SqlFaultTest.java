package dev.lockstep.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** SQLSTATE in, meaning and exception out: the whole table. */
class SqlFaultTest {

  @ParameterizedTest
  @CsvSource({
    // state, fault, retryable, exception
    "40001, SERIALIZATION, true,  SerializationConflict",
    "40P01, DEADLOCK,      true,  SerializationConflict",
    "55P03, LOCK_TIMEOUT,  false, LockTimeout",
    "57014, CANCELLED,     false, StatementTimeout",
    "25P03, OVERDUE,       true,  TransactionTimeout",
    "25P04, OVERDUE,       true,  TransactionTimeout",
    "08000, UNAVAILABLE,   true,  DatabaseUnavailable",
    "08001, UNAVAILABLE,   true,  DatabaseUnavailable",
    "08003, UNAVAILABLE,   true,  DatabaseUnavailable",
    "08004, UNAVAILABLE,   true,  DatabaseUnavailable",
    "08006, UNAVAILABLE,   true,  DatabaseUnavailable",
    "08007, UNAVAILABLE,   true,  DatabaseUnavailable",
    "08P01, UNAVAILABLE,   true,  DatabaseUnavailable",
    "57P01, UNAVAILABLE,   true,  DatabaseUnavailable",
    "57P02, UNAVAILABLE,   true,  DatabaseUnavailable",
    "57P03, UNAVAILABLE,   true,  DatabaseUnavailable",
    "57P05, UNAVAILABLE,   true,  DatabaseUnavailable",
    "53300, UNAVAILABLE,   true,  DatabaseUnavailable",
    "23505, CONSTRAINT,    false, ConstraintViolated",
    "23503, CONSTRAINT,    false, ConstraintViolated",
    "23514, CONSTRAINT,    false, ConstraintViolated",
    "23502, CONSTRAINT,    false, ConstraintViolated",
    "23P01, CONSTRAINT,    false, ConstraintViolated",
    "22003, OTHER,         false, StatementFailed",
    "25006, READ_ONLY,     true,  DatabaseUnavailable",
    "25P02, OTHER,         false, StatementFailed",
    "28P01, OTHER,         false, StatementFailed",
    "42P01, OTHER,         false, StatementFailed",
    "53100, DISK_FULL,     false, DatabaseUnavailable",
    "57P04, OTHER,         false, StatementFailed",
    "XX000, OTHER,         false, StatementFailed",
    "P0001, OTHER,         false, StatementFailed",
  })
  void aStateMeansOneFault(String state, SqlFault fault, boolean retryable, String exception) {
    SQLException thrown = new SQLException("said by the server", state);

    assertThat(SqlFault.of(thrown)).isEqualTo(fault);
    assertThat(fault.retryable()).isEqualTo(retryable);
    LockstepException translated = fault.asException("selling", thrown);
    assertThat(translated.getClass().getSimpleName()).isEqualTo(exception);
    assertThat(translated).hasMessage("selling: said by the server").hasCause(thrown);
  }

  @ParameterizedTest
  @CsvSource({
    "40001, true",
    "40P01, true",
    "23505, true",
    "25P02, true",
    "57014, true",
    "XX000, true",
    "25P03, true",
    "25P04, false",
    "08006, false",
    "08003, false",
    "57P01, false",
    "57P02, false",
  })
  void onlyAnErrorTheServerReportedMeansThatCommitDidNotHappen(String state, boolean rolledBack) {
    assertThat(SqlFault.serverRolledBack(new SQLException("at COMMIT", state)))
        .isEqualTo(rolledBack);
  }

  @Test
  void anErrorWithoutAStateSaysNothingAboutTheCommit() {
    assertThat(SqlFault.serverRolledBack(new SQLException("the driver stumbled"))).isFalse();
  }

  @Test
  void aBatchReportsTheStateOfItsRow() {
    BatchUpdateException batch = new BatchUpdateException("batch entry 3", "HY000", new int[0]);
    batch.setNextException(new SQLException("duplicate key", "23505"));

    assertThat(SqlFault.of(batch)).isEqualTo(SqlFault.CONSTRAINT);
  }

  @Test
  void aBatchWithoutAStateReportsTheStateOfItsRow() {
    BatchUpdateException batch = new BatchUpdateException(new int[0]);
    batch.setNextException(new SQLException("conflict", "40001"));

    assertThat(SqlFault.of(batch)).isEqualTo(SqlFault.SERIALIZATION);
  }

  @Test
  void aPoolThatHasNoConnectionInTimeSaysSoByType() {
    assertThat(SqlFault.of(new SQLTransientConnectionException("pool: request timed out")))
        .isEqualTo(SqlFault.UNAVAILABLE);
    assertThat(SqlFault.of(new SQLNonTransientConnectionException("refused")))
        .isEqualTo(SqlFault.UNAVAILABLE);
    assertThat(SqlFault.of(new SQLRecoverableException("closed"))).isEqualTo(SqlFault.UNAVAILABLE);
  }

  @Test
  void aPoolThatTimedOutForAReasonTellsTheReason() {
    assertThat(SqlFault.of(new SQLTransientConnectionException("timed out", "28P01")))
        .isEqualTo(SqlFault.OTHER);
  }

  @Test
  void aWaitForAConnectionThatWasInterruptedChangedNothing() {
    SQLException interrupted = new SQLException("interrupted", new InterruptedException());

    assertThat(SqlFault.of(interrupted)).isEqualTo(SqlFault.UNAVAILABLE);
  }

  @Test
  void anErrorWithoutAStateIsAMistake() {
    assertThat(SqlFault.of(new SQLException("no idea"))).isEqualTo(SqlFault.OTHER);
    assertThat(SqlFault.of(new SQLException("no idea", "?"))).isEqualTo(SqlFault.OTHER);
  }

  @Test
  void theFaultIsFoundBehindOtherLibrariesExceptions() {
    Throwable wrapped =
        new IllegalStateException(new RuntimeException(new SQLException("conflict", "40001")));

    assertThat(SqlFault.behind(wrapped)).contains(SqlFault.SERIALIZATION);
    assertThat(SqlFault.behind(new IllegalStateException("not ours"))).isEmpty();
    assertThat(SqlFault.behind(null)).isEmpty();
  }

  @Test
  void nothingBehindAnUnknownOutcomeMayBeTriedAgain() {
    Throwable unknown = new OutcomeUnknown("lost in COMMIT", new SQLException("lost", "08006"));

    assertThat(SqlFault.behind(unknown)).isEmpty();
    assertThat(SqlFault.behind(new IllegalStateException(unknown))).isEmpty();
  }
}
