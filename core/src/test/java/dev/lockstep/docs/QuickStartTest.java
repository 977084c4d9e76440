package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.CommitFault.Moment;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The example of docs/transactions.md, run. */
class QuickStartTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private final Transactor transactor = new Transactor(database.dataSource());

  @BeforeEach
  void twoAccounts() {
    database.execute(
        """
        DROP TABLE IF EXISTS account, transfer;
        CREATE TABLE account (id int PRIMARY KEY, balance bigint CHECK (balance >= 0));
        CREATE TABLE transfer (id uuid PRIMARY KEY);
        INSERT INTO account VALUES (1, 1000), (2, 1000);
        """);
  }

  // snippet: quickstart
  private static final TxOptions TRANSFER =
      TxOptions.DEFAULT // READ COMMITTED
          .withLabel("transfer")
          .withLockTimeout(Duration.ofSeconds(1)) // for each lock; then LockTimeout
          .withDeadline(Duration.ofSeconds(5)); // for all attempts and waits together

  /** Moves money exactly once, whatever conflicts, fails or is lost on the way. */
  static UUID transfer(Transactor transactor, UUID id, int from, int to, long amount) {
    return transactor.call(
        TRANSFER,
        // Committed when it returns, rolled back if it throws. Run again, whole, after a
        // serialization failure, a deadlock or a connection lost before COMMIT.
        c -> {
          run(c, "SELECT FROM account WHERE id IN (?, ?) ORDER BY id FOR UPDATE", from, to);
          run(c, "UPDATE account SET balance = balance - ? WHERE id = ?", amount, from);
          run(c, "UPDATE account SET balance = balance + ? WHERE id = ?", amount, to);
          run(c, "INSERT INTO transfer (id) VALUES (?)", id);
          return id;
        },
        // Asked only if the connection is lost during COMMIT: did it happen?
        c -> find(c, id));
  }

  // end: quickstart

  @Test
  void transfersInBothDirectionsConserveMoney() throws InterruptedException {
    Race.<Boolean>of(16)
        .run(
            i -> {
              for (int n = 0; n < 5; n++) {
                transfer(transactor, UUID.randomUUID(), 1 + i % 2, 2 - i % 2, 10);
              }
              return true;
            })
        .valuesOrThrow();

    assertThat(balance(1)).isEqualTo(1000);
    assertThat(balance(2)).isEqualTo(1000);
    assertThat(database.queryLong("SELECT count(*) FROM transfer")).isEqualTo(80);
  }

  @ParameterizedTest
  @EnumSource
  void aConnectionLostAtAnyMomentOfTheCommitMovesTheMoneyOnce(Moment moment) {
    try (CommitFault fault = CommitFault.on(database)) {
      fault.arm(moment);
      transfer(new Transactor(fault.dataSource()), UUID.randomUUID(), 1, 2, 10);
      assertThat(fault.fired()).isTrue();
    }

    assertThat(balance(1)).isEqualTo(990);
    assertThat(balance(2)).isEqualTo(1010);
  }

  @Test
  void anOverdraftIsRefusedAndNothingMoves() {
    assertThatThrownBy(() -> transfer(transactor, UUID.randomUUID(), 1, 2, 1001))
        .isInstanceOf(ConstraintViolated.class);

    assertThat(balance(2)).isEqualTo(1000);
  }

  private static Optional<UUID> find(Connection connection, UUID id) throws SQLException {
    return run(connection, "SELECT FROM transfer WHERE id = ?", id)
        ? Optional.of(id)
        : Optional.empty();
  }

  /** True when the statement returned a row. */
  private static boolean run(Connection connection, String sql, Object... args)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < args.length; i++) {
        statement.setObject(i + 1, args[i]);
      }
      return statement.execute() && statement.getResultSet().next();
    }
  }

  private static long balance(int account) {
    return database.queryLong("SELECT balance FROM account WHERE id = ?", account);
  }
}
