package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.StatementFailed;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A pooler in transaction mode gives the session to somebody else: nothing of ours may be in it.
 */
class SessionStateTest {
  /** One connection, so that every test sees the same session again. */
  @RegisterExtension static final TestDatabase database = TestDatabase.empty().withPoolSize(1);

  private static final TxOptions UNUSUAL =
      TxOptions.DEFAULT
          .withIsolation(Isolation.SERIALIZABLE)
          .withLockTimeout(Duration.ofMillis(1234))
          .withStatementTimeout(Duration.ofMillis(5678))
          .withIdleTimeout(Duration.ofMillis(2345))
          .withTransactionTimeout(Duration.ofMillis(6789))
          .withIndexLookups()
          .asReadOnly();

  private final Transactor transactor = new Transactor(database.dataSource());

  @ParameterizedTest
  @EnumSource
  void theSettingsHoldInsideAndAreGoneAfterwards(Isolation isolation) throws SQLException {
    List<String> before = session();

    List<String> inside =
        transactor.call(UNUSUAL.withIsolation(isolation), SessionStateTest::settings);

    assertThat(inside)
        .startsWith(
            "1234ms",
            "5678ms",
            isolation.sql().toLowerCase(Locale.ROOT),
            "on",
            "off",
            "off",
            "off",
            "off",
            "0",
            "2345ms",
            bound("6789ms", "2"));
    assertThat(session()).isEqualTo(before);
  }

  @Test
  void theSettingsHoldWithALookupToo() throws SQLException {
    List<String> before = session();
    TxOptions writing =
        TxOptions.DEFAULT.withLockTimeout(Duration.ofMillis(1234)).withIndexLookups();

    List<String> inside =
        transactor.call(writing, SessionStateTest::settings, connection -> Optional.empty());

    assertThat(inside)
        .startsWith(
            "1234ms",
            "10s",
            "read committed",
            "off",
            "off",
            "off",
            "off",
            "off",
            "0",
            "5s",
            bound("15s", "5"));
    assertThat(session()).isEqualTo(before);
  }

  /** The order that REPEATABLE READ asks for: first the lock, then the snapshot. */
  @Test
  void theTransactionHasNotYetReadAnythingWhenItsWorkBegins() {
    database.execute("CREATE TABLE item (id int)");
    TxOptions repeatable = TxOptions.DEFAULT.withIsolation(Isolation.REPEATABLE_READ);

    long seen =
        transactor.call(
            repeatable,
            connection -> {
              insertFromAnotherSession();
              Sql.execute(connection, "LOCK TABLE item IN SHARE MODE");
              return Sql.query(connection, "SELECT count(*) FROM item");
            });

    assertThat(seen).isEqualTo(1);
  }

  @Test
  void theSettingsAreGoneAfterAFailureToo() throws SQLException {
    List<String> before = session();

    assertThatThrownBy(() -> transactor.run(UNUSUAL, c -> Sql.execute(c, "SELECT 1/0")))
        .isInstanceOf(StatementFailed.class);

    assertThat(session()).isEqualTo(before);
  }

  @Test
  void theConnectionGoesBackInAutoCommitMode() throws SQLException {
    transactor.run(connection -> assertThat(connection.getAutoCommit()).isFalse());

    try (Connection connection = database.connection()) {
      assertThat(connection.getAutoCommit()).isTrue();
    }
  }

  private static String bound(String transactionTimeout, String keepAliveAfterSeconds) {
    return hasTransactionTimeout() ? transactionTimeout : keepAliveAfterSeconds;
  }

  private static boolean hasTransactionTimeout() {
    return database.queryLong("SELECT current_setting('server_version_num')::int") >= 170_000;
  }

  private static void insertFromAnotherSession() throws SQLException {
    try (Connection another =
        DriverManager.getConnection(database.url(), database.user(), database.password())) {
      Sql.execute(another, "INSERT INTO item VALUES (1)");
    }
  }

  private static List<String> session() throws SQLException {
    try (Connection connection = database.connection()) {
      return settings(connection);
    }
  }

  /** The process id last: it shows that the session is the same. */
  private static List<String> settings(Connection connection) throws SQLException {
    Stream.Builder<String> settings = Stream.builder();
    for (String name :
        List.of(
            "lock_timeout",
            "statement_timeout",
            "transaction_isolation",
            "transaction_read_only",
            "enable_seqscan",
            "enable_hashjoin",
            "enable_mergejoin",
            "jit",
            "max_parallel_workers_per_gather",
            "idle_in_transaction_session_timeout",
            connection.getMetaData().getDatabaseMajorVersion() >= 17
                ? "transaction_timeout"
                : "tcp_keepalives_idle",
            "tcp_user_timeout")) {
      settings.add(Sql.text(connection, "SHOW " + name));
    }
    return settings.add(String.valueOf(Sql.pid(connection))).build().toList();
  }
}
