package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.PermanentFault;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Work must not end the transaction it runs in. If it does, its later statements must not commit
 * alone, and the call must not report success.
 */
class EndedByWorkTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final String INSERT = "INSERT INTO noted VALUES (?)";
  private final Transactor transactor = new Transactor(database.dataSource());

  /** How work can end its transaction. */
  private enum Ending {
    ROLLBACK {
      @Override
      void end(Connection connection) throws SQLException {
        connection.rollback();
      }
    },
    ROLLBACK_IN_SQL {
      @Override
      void end(Connection connection) throws SQLException {
        execute(connection, "ROLLBACK");
      }
    },
    ROLLBACK_AND_CHAIN {
      @Override
      void end(Connection connection) throws SQLException {
        execute(connection, "ROLLBACK AND CHAIN");
      }
    },
    ROLLBACK_AND_BEGIN {
      @Override
      void end(Connection connection) throws SQLException {
        execute(connection, "ROLLBACK; BEGIN");
      }
    },
    COMMIT {
      @Override
      void end(Connection connection) throws SQLException {
        connection.commit();
      }
    },
    COMMIT_AND_BEGIN {
      @Override
      void end(Connection connection) throws SQLException {
        execute(connection, "COMMIT; BEGIN");
      }
    },
    AUTO_COMMIT {
      @Override
      void end(Connection connection) throws SQLException {
        connection.setAutoCommit(true);
        connection.setAutoCommit(false);
      }
    };

    abstract void end(Connection connection) throws SQLException;

    boolean keepsWhatCameBefore() {
      return this == COMMIT || this == COMMIT_AND_BEGIN || this == AUTO_COMMIT;
    }
  }

  @BeforeEach
  void anEmptyTable() {
    database.execute("DROP TABLE IF EXISTS noted; CREATE TABLE noted (n int PRIMARY KEY)");
  }

  @ParameterizedTest
  @EnumSource
  void whatFollowsIsRolledBackAndTheCallerIsTold(Ending ending) {
    assertThatThrownBy(
            () ->
                transactor.run(
                    connection -> {
                      Sql.execute(connection, INSERT, 1);
                      ending.end(connection);
                      Sql.execute(connection, INSERT, 2);
                    }))
        .isInstanceOf(PermanentFault.class)
        .hasMessageContaining("The work ended its transaction itself");

    assertThat(noted()).isEqualTo(ending.keepsWhatCameBefore() ? "1" : "");
  }

  @ParameterizedTest
  @EnumSource
  void nothingNeedFollow(Ending ending) {
    assertThatThrownBy(() -> transactor.run(ending::end))
        .isInstanceOf(PermanentFault.class)
        .hasMessageContaining("The work ended its transaction itself");
  }

  /** The settings of these levels are made without a query. */
  @ParameterizedTest
  @EnumSource
  void itIsNoticedAtEveryIsolationLevel(Isolation isolation) {
    TxOptions options = TxOptions.DEFAULT.withIsolation(isolation);

    assertThatThrownBy(
            () ->
                transactor.run(
                    options,
                    connection -> {
                      connection.rollback();
                      Sql.execute(connection, INSERT, 2);
                    }))
        .hasMessageContaining("The work ended its transaction itself");
    transactor.run(options, connection -> Sql.execute(connection, INSERT, 3));

    assertThat(noted()).isEqualTo("3");
  }

  @ParameterizedTest
  @EnumSource
  void statementsThatTravelWithCommitAreRolledBackToo(Ending ending) {
    assertThatThrownBy(
            () ->
                exchange(
                    exchange -> {
                      ending.end(exchange.connection());
                      RoundTrip trip = exchange.trip();
                      trip.update(INSERT, 2);
                      exchange.defer(trip);
                    }))
        .isInstanceOf(PermanentFault.class)
        .hasMessageContaining("The work ended its transaction itself");

    assertThat(noted()).isEmpty();
  }

  /** In one packet with BEGIN and COMMIT. */
  @ParameterizedTest
  @ValueSource(strings = {"ROLLBACK", "ROLLBACK AND CHAIN"})
  void aTripThatIsTheWholeTransactionIsCheckedToo(String statement) {
    assertThatThrownBy(
            () ->
                exchange(
                    exchange -> {
                      RoundTrip trip = exchange.trip();
                      trip.update(INSERT, 1);
                      trip.update(statement);
                      exchange.deferInOnePacket(trip);
                    }))
        .isInstanceOf(PermanentFault.class)
        .hasMessageContaining("The work ended its transaction itself");

    assertThat(noted()).isEmpty();
  }

  /** A guarded statement turns any refusal of its own trip into a conflict. */
  @Test
  void aGuardInTheSameTripDoesNotMakeItAConflict() {
    assertThatThrownBy(
            () ->
                exchange(
                    exchange -> {
                      exchange.connection().rollback();
                      RoundTrip trip = exchange.trip();
                      trip.guarded(
                          thrown -> SqlFault.orLookAgain(thrown, "decide again"),
                          guarded -> guarded.update(INSERT, 2));
                      exchange.defer(trip);
                    }))
        .isInstanceOf(PermanentFault.class)
        .hasMessageContaining("The work ended its transaction itself");

    assertThat(noted()).isEmpty();
  }

  @Test
  void aSavepointThatIsRolledBackEndsNothing() {
    transactor.run(
        connection -> {
          Sql.execute(connection, INSERT, 1);
          var savepoint = connection.setSavepoint();
          Sql.execute(connection, INSERT, 2);
          connection.rollback(savepoint);
        });

    assertThat(noted()).isEqualTo("1");
  }

  private interface Steps {
    void run(Exchange exchange) throws SQLException;
  }

  private void exchange(Steps steps) {
    transactor.<String>exchange(
        TxOptions.DEFAULT,
        exchange -> {
          steps.run(exchange);
          return List.of(new AttemptResult.Final<>("done"));
        },
        connection -> Optional.empty());
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private String noted() {
    return transactor.call(
        connection ->
            Sql.text(
                connection, "SELECT coalesce(string_agg(n::text, ',' ORDER BY n), '') FROM noted"));
  }
}
