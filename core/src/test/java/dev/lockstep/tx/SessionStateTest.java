package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

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
          .asReadOnly();

  private final Transactor transactor = new Transactor(database.dataSource());

  @Test
  void theSettingsHoldInsideAndAreGoneAfterwards() throws SQLException {
    List<String> before = session();

    List<String> inside = transactor.call(UNUSUAL, SessionStateTest::settings);

    assertThat(inside).startsWith("1234ms", "5678ms", "serializable", "on");
    assertThat(session()).isEqualTo(before);
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
            "transaction_read_only")) {
      settings.add(Sql.text(connection, "SHOW " + name));
    }
    return settings.add(String.valueOf(Sql.pid(connection))).build().toList();
  }
}
