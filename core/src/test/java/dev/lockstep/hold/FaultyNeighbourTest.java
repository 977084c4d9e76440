package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.PermanentFault;
import dev.lockstep.fault.TransientFault;
import dev.lockstep.hold.Companion.Accompanied;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One command of a batch has a faulty companion of its own; the others have a sound one. Whatever
 * the faulty one does to the shared transaction, only its own command fails, and each of the others
 * is granted with its rows.
 */
class FaultyNeighbourTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final int CALLERS = 10;

  private static final Companion<String> SOUND =
      (exchange, outcomes) -> {
        RoundTrip trip = exchange.trip();
        for (Accompanied<String> one : outcomes) {
          trip.update("INSERT INTO payment VALUES (?)", one.payload());
        }
        exchange.defer(trip);
      };

  @BeforeEach
  void tables() {
    database.execute(
        """
        DROP TABLE IF EXISTS payment;
        CREATE TABLE payment (reference text PRIMARY KEY);
        DROP TABLE IF EXISTS late;
        CREATE TABLE late (state text);
        CREATE OR REPLACE FUNCTION fail_late() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'late' USING ERRCODE = NEW.state; END $$;
        CREATE CONSTRAINT TRIGGER late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION fail_late();
        """);
  }

  @Test
  void aRollbackFailsAlone() throws Exception {
    for (int place : List.of(0, 7)) {
      database.execute("TRUNCATE payment");
      assertThat(beside(Connection::rollback, place))
          .isInstanceOf(PermanentFault.class)
          .hasMessageContaining("The work ended its transaction itself");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"ROLLBACK", "ROLLBACK AND CHAIN", "ROLLBACK; BEGIN"})
  void aRollbackInSqlFailsAlone(String sql) throws Exception {
    assertThat(beside(connection -> execute(connection, sql)))
        .isInstanceOf(PermanentFault.class)
        .hasMessageContaining("The work ended its transaction itself");
  }

  /** A deferred trigger raises it, however often it is tried. */
  @ParameterizedTest
  @ValueSource(
      strings = {"08001", "08006", "53100", "25006", "57P01", "53300", "40001", "57014", "P0001"})
  void whatFailsOnlyAtCommitFailsAlone(String state) throws Exception {
    assertThat(beside(connection -> Sql.execute(connection, "INSERT INTO late VALUES (?)", state)))
        .isInstanceOf(state.equals("P0001") ? PermanentFault.class : TransientFault.class);
  }

  @Test
  void aTransactionMadeReadOnlyFailsAlone() throws Exception {
    // Alone it does no harm: its stock was written before.
    assertThat(beside(connection -> execute(connection, "SET TRANSACTION READ ONLY"), 0))
        .isInstanceOf(NothingFailed.class);
  }

  @Test
  void anOutcomeUnknownOfAnotherDatabaseIsToldToItsOwnCallerOnly() throws Exception {
    OutcomeUnknown elsewhere = new OutcomeUnknown("another database", null);

    Throwable told =
        beside(
            connection -> {
              throw elsewhere;
            });

    assertThat(told).isSameAs(elsewhere);
  }

  @Test
  void anAbortedConnectionFailsAlone() throws Exception {
    assertThat(beside(connection -> connection.abort(Runnable::run)))
        .isInstanceOf(TransientFault.class);
  }

  @Test
  void aClosedConnectionFailsAlone() throws Exception {
    assertThat(beside(Connection::close)).isNotInstanceOf(OutcomeUnknown.class);
  }

  /** As data access libraries do: the SQLException is the cause of an exception of theirs. */
  @Test
  void aWrappedLockTimeoutHurriesTheParts() throws Exception {
    List<String> lockTimeouts = new CopyOnWriteArrayList<>();
    Throwable told;
    try (Connection another = database.connection()) {
      another.setAutoCommit(false);
      Sql.execute(another, "INSERT INTO payment VALUES ('taken')");

      told =
          beside(
              connection -> {
                lockTimeouts.add(Sql.text(connection, "SHOW lock_timeout"));
                try {
                  Sql.execute(connection, "INSERT INTO payment VALUES ('taken')");
                } catch (SQLException e) {
                  throw new IllegalStateException("wrapped", e);
                }
              });
    }

    assertThat(told).isInstanceOf(IllegalStateException.class).hasMessage("wrapped");
    assertThat(lockTimeouts.stream().filter("3s"::equals)).as("waited in full once").hasSize(1);
    assertThat(lockTimeouts).hasSizeGreaterThan(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"40001", "08001", "53100", "25006", "57014"})
  void aWrappedFaultThatMayPassFailsAlone(String state) throws Exception {
    assertThat(
            beside(
                connection -> {
                  try {
                    execute(
                        connection,
                        "DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '%s'; END $$"
                            .formatted(state));
                  } catch (SQLException e) {
                    throw new IllegalStateException("wrapped", e);
                  }
                }))
        .isInstanceOf(IllegalStateException.class);
  }

  private interface Fault {
    void happens(Connection connection) throws SQLException;
  }

  /** Said if even the faulty command succeeded. */
  private static final class NothingFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /**
   * Runs one command with the fault in a batch with sound ones, checks that these are granted, and
   * returns what the faulty one was told.
   */
  private Throwable beside(Fault fault) throws Exception {
    return beside(fault, 7);
  }

  /**
   * @param place of the faulty command in its batch: the companions of later ones write after it
   */
  private Throwable beside(Fault fault, int place) throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(2 * CALLERS);
    Companion<String> faulty = (exchange, outcomes) -> fault.happens(exchange.connection());
    List<CompletableFuture<AcquireResult>> sound = new ArrayList<>();
    CompletableFuture<AcquireResult> bad = null;
    try (Busy busy = new Busy(database, sale, pool)) {
      for (int i = 0; i < CALLERS; i++) {
        HoldCommand.Acquire command = sale.acquire("buyer-" + i, Line.of(pool, 1));
        if (i == place) {
          bad = sale.node().submit(command, faulty, "bad").toCompletableFuture();
        } else {
          sound.add(sale.node().submit(command, SOUND, "p" + i).toCompletableFuture());
        }
      }
      busy.end();
    }
    for (CompletableFuture<AcquireResult> one : sound) {
      assertThat(Door.await(one)).isInstanceOf(Granted.class);
    }
    assertThat(database.queryLong("SELECT count(*) FROM payment")).isEqualTo(CALLERS - 1);
    Throwable told = faultOf(Objects.requireNonNull(bad));
    long ofTheBad = told instanceof NothingFailed ? 1 : 0;
    assertThat(sale.counts(pool).held()).isEqualTo(CALLERS + ofTheBad);
    return told;
  }

  private static Throwable faultOf(CompletableFuture<AcquireResult> asked) {
    try {
      Door.await(asked);
      return new NothingFailed();
    } catch (RuntimeException e) {
      return e;
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
