package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Two doctors are on call, and each may leave while another stays. Each reads both rows and writes
 * only its own, so no row is written twice: a snapshot alone sees no conflict.
 */
class WriteSkewTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final String ON_CALL = "SELECT count(*) FROM doctor WHERE on_call";
  private static final String LEAVE = "UPDATE doctor SET on_call = false WHERE name = ?";

  private final Attempted attempted = new Attempted();

  @BeforeEach
  void twoDoctorsOnCall() {
    database.execute(
        "DROP TABLE IF EXISTS doctor; CREATE TABLE doctor (name text PRIMARY KEY, on_call bool);"
            + " INSERT INTO doctor VALUES ('alice', true), ('bob', true)");
  }

  @Test
  void repeatableReadCommitsWriteSkew() throws SQLException {
    try (Connection alice = begin(Connection.TRANSACTION_REPEATABLE_READ);
        Connection bob = begin(Connection.TRANSACTION_REPEATABLE_READ)) {
      leaveIfAnotherStays(alice, "alice");
      leaveIfAnotherStays(bob, "bob");
      alice.commit();
      bob.commit();
    }

    assertThat(onCall()).as("nobody is on call").isZero();
  }

  @Test
  void serializableRefusesTheSecond() throws SQLException {
    SQLException refused;
    try (Connection alice = begin(Connection.TRANSACTION_SERIALIZABLE);
        Connection bob = begin(Connection.TRANSACTION_SERIALIZABLE)) {
      leaveIfAnotherStays(alice, "alice");
      leaveIfAnotherStays(bob, "bob");
      alice.commit();
      refused = catchThrowableOfType(SQLException.class, bob::commit);
    }

    assertThat(SqlFault.of(refused)).isEqualTo(SqlFault.SERIALIZATION);
    assertThat(onCall()).isEqualTo(1);
  }

  @Test
  void theTransactorRunsTheRefusedOneAgainAndItSeesThatItMustStay() {
    Transactor transactor =
        new Transactor(
            database.dataSource(),
            TxOptions.DEFAULT.withIsolation(Isolation.SERIALIZABLE),
            attempted);

    boolean bobLeft =
        transactor.call(
            connection -> {
              boolean left = leaveIfAnotherStays(connection, "bob");
              if (attempted.attempts().isEmpty()) {
                aliceLeavesMeanwhile();
              }
              return left;
            });

    assertThat(bobLeft).isFalse();
    assertThat(onCall()).isEqualTo(1);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.RETRIED, TxOutcome.COMMITTED);
    assertThat(attempted.faults(SqlFault.SERIALIZATION)).isEqualTo(1);
  }

  private static void aliceLeavesMeanwhile() throws SQLException {
    try (Connection alice = begin(Connection.TRANSACTION_SERIALIZABLE)) {
      leaveIfAnotherStays(alice, "alice");
      alice.commit();
    }
  }

  private static boolean leaveIfAnotherStays(Connection connection, String name)
      throws SQLException {
    boolean free = Sql.query(connection, ON_CALL) > 1;
    if (free) {
      Sql.execute(connection, LEAVE, name);
    }
    return free;
  }

  private static long onCall() {
    return database.queryLong(ON_CALL);
  }

  private static Connection begin(int isolation) throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    connection.setTransactionIsolation(isolation);
    return connection;
  }
}
