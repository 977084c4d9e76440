package dev.lockstep.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.testkit.CommitFault.Moment;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.PreferQueryMode;

@Timeout(60)
class CommitFaultTest {

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final AtomicLong ids = new AtomicLong();

  @ParameterizedTest
  @EnumSource
  void theConnectionIsLostAndTheOutcomeIsTheMoments(Moment moment) throws Exception {
    try (CommitFault fault = CommitFault.on(database);
        Connection connection = fault.dataSource().getConnection()) {
      assertStrikes(fault, moment, connection);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCommitThatTheDriverHasPreparedIsRecognised(Moment moment) throws Exception {
    try (CommitFault fault = CommitFault.on(database);
        Connection connection = fault.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      // The driver prepares on the server what it has used five times.
      for (int i = 0; i < 10; i++) {
        long id = insert(connection);
        connection.commit();
        assertThat(isCommitted(id)).isTrue();
      }
      assertThat(countPreparedCommits(connection)).isPositive();
      assertStrikes(fault, moment, connection);
    }
  }

  private static long countPreparedCommits(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        var row =
            statement.executeQuery(
                "SELECT count(*) FROM pg_prepared_statements WHERE statement = 'COMMIT'")) {
      row.next();
      return row.getLong(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCommitInTheSimpleProtocolIsRecognised(Moment moment) throws Exception {
    try (CommitFault fault = CommitFault.on(database)) {
      PGSimpleDataSource simple = fault.dataSource().unwrap(PGSimpleDataSource.class);
      simple.setPreferQueryMode(PreferQueryMode.SIMPLE);
      try (Connection connection = simple.getConnection()) {
        assertStrikes(fault, moment, connection);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCommitBesideOtherStatementsIsRecognised(Moment moment) throws Exception {
    try (CommitFault fault = CommitFault.on(database);
        Connection connection = fault.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      long id = ids.incrementAndGet();
      fault.arm(moment);
      String sql = "BEGIN; INSERT INTO lockstep.probe VALUES (" + id + "); commit work";
      assertThatThrownBy(() -> statement.execute(sql))
          .satisfies(CommitFaultTest::isConnectionFailure);
      assertThat(fault.fired()).isTrue();
      assertThat(isCommitted(id)).isEqualTo(moment == Moment.AFTER_COMMIT);
    }
  }

  @Test
  void aFaultStrikesOnceAndNotBeforeItIsArmed() throws Exception {
    try (CommitFault fault = CommitFault.on(database)) {
      assertThat(commitThrough(fault)).isTrue();
      assertThat(fault.fired()).isFalse();

      fault.arm(Moment.BEFORE_COMMIT);
      assertThat(fault.fired()).isFalse();
      assertThatThrownBy(() -> commitThrough(fault))
          .satisfies(CommitFaultTest::isConnectionFailure);
      fault.awaitFired();
      assertThat(fault.firedFuture()).isCompleted();

      assertThat(commitThrough(fault)).isTrue();
    }
  }

  @Test
  void onlyOneOfSeveralConnectionsIsStruck() throws Exception {
    try (CommitFault fault = CommitFault.on(database)) {
      fault.arm(Moment.AFTER_COMMIT);
      RaceResult<Boolean> result = Race.<Boolean>of(6).run(i -> commitThrough(fault));
      assertThat(result.values()).hasSize(5).containsOnly(true);
      assertThat(result.failures()).hasSize(1).allSatisfy(CommitFaultTest::isConnectionFailure);
    }
  }

  @Test
  void aRollbackIsNoCommit() throws Exception {
    try (CommitFault fault = CommitFault.on(database);
        Connection connection = fault.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      fault.arm(Moment.BEFORE_COMMIT);
      long id = insert(connection);
      connection.rollback();
      assertThat(fault.fired()).isFalse();
      assertThat(isCommitted(id)).isFalse();
    }
  }

  @Test
  void aStatementThatMentionsCommitIsNone() throws Exception {
    try (CommitFault fault = CommitFault.on(database);
        Connection connection = fault.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      fault.arm(Moment.BEFORE_COMMIT);
      statement.execute("SELECT 'commit' AS commit, '; commit'");
      assertThat(fault.fired()).isFalse();
    }
  }

  private static void assertStrikes(CommitFault fault, Moment moment, Connection connection)
      throws SQLException {
    connection.setAutoCommit(false);
    long id = insert(connection);
    fault.arm(moment);
    assertThatThrownBy(connection::commit).satisfies(CommitFaultTest::isConnectionFailure);
    // The server was done before the client was told.
    assertThat(fault.fired()).isTrue();
    assertThat(isCommitted(id)).isEqualTo(moment == Moment.AFTER_COMMIT);
    // And its session is gone, with the locks it held.
    assertThat(
            database.queryLong(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"))
        .isZero();
  }

  private static boolean commitThrough(CommitFault fault) throws SQLException {
    try (Connection connection = fault.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      long id = insert(connection);
      connection.commit();
      return isCommitted(id);
    }
  }

  private static long insert(Connection connection) throws SQLException {
    long id = ids.incrementAndGet();
    try (Statement statement = connection.createStatement()) {
      statement.execute("INSERT INTO lockstep.probe VALUES (" + id + ")");
    }
    return id;
  }

  /** Asked directly, not through the fault. */
  private static boolean isCommitted(long id) {
    return database.queryLong("SELECT count(*) FROM lockstep.probe WHERE id = ?", id) == 1;
  }

  private static void isConnectionFailure(Throwable e) {
    assertThat(e)
        .isInstanceOfSatisfying(
            SQLException.class, s -> assertThat(s.getSQLState()).startsWith("08"));
  }
}
