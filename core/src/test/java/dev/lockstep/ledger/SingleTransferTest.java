package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.ledger.LedgerOutcome.BalanceOverflow;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The statement of a transfer that stands alone, as the database runs it. */
class SingleTransferTest {
  private static final Instant LATER = Instant.parse("2200-01-01T00:00:00Z");

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theAccountsAreLockedInTheOrderOfTheirIds(boolean upwards) throws Exception {
    AccountId low = new AccountId(8);
    AccountId high = new AccountId(9);
    // Their rows are in another order, and a planner who knows how few there are would take that.
    bank.node().openAccounts(bank.book(), List.of(NewAccount.withoutFloor(high, "high", "JPY")));
    bank.node().openAccounts(bank.book(), List.of(NewAccount.withoutFloor(low, "low", "JPY")));
    database.execute("ANALYZE lockstep.account");
    try (Connection holder = database.connection()) {
      holder.setAutoCommit(false);
      assertThat(lockUnlessLocked(holder, high)).isTrue();

      CompletableFuture<Void> moved =
          CompletableFuture.runAsync(
              () -> move(upwards ? low : high, upwards ? high : low, "JPY", LATER));
      Await.blocked(database, 1);

      assertThat(lockUnlessLocked(holder, low)).as("the lower is not locked yet").isFalse();
      holder.rollback();
      moved.join();
    }
    assertThat(bank.balance(upwards ? high : low)).isEqualTo(1);
  }

  @Test
  void whatIsNotAsPresumedIsAConflictAndNothingMoves() {
    AccountId yen = bank.world();
    AccountId nobody = new AccountId(50);
    AccountId dollars = new AccountId(51);
    bank.node()
        .openAccounts(bank.book(), List.of(NewAccount.withoutFloor(dollars, "dollars", "USD")));
    AccountId ahead = bank.open(OptionalLong.of(-10));
    database.execute(
        "UPDATE lockstep.account SET changed_at = '2300-01-01Z' WHERE book = %d AND account = %d"
            .formatted(bank.book().value(), ahead.value()));
    List<String> before = bank.everything();

    for (AccountId other : List.of(nobody, dollars, ahead)) {
      for (String currency : List.of("JPY", "USD")) {
        assertConflict(yen, other, currency);
        assertConflict(other, yen, currency);
      }
    }
    assertThat(bank.everything()).isEqualTo(before);
  }

  /** The decision on locked rows refuses it: what is pending and what moves must fit together. */
  @Test
  void whatDoesNotFitBesideThePendingAmountIsLeftToTheDecision() {
    AccountId from = bank.world();
    AccountId to = bank.world();
    bank.ask(bank.move(to, from, 100));
    bank.ask(bank.reserve(from, to, Long.MAX_VALUE));

    assertConflict(from, to, "JPY");
    assertThat(bank.ask(bank.move(from, to, 1))).isInstanceOf(BalanceOverflow.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1_000, 1_000})
  void aTimeThatIsNotTheDatabasesOwnIsAConflictAndNothingMoves(long offByMs) {
    AccountId from = bank.world();
    AccountId to = bank.world();
    List<String> before = bank.everything();

    assertThatThrownBy(() -> move(from, to, "JPY", Instant.now().plusMillis(offByMs), 100_000))
        .rootCause()
        .satisfies(e -> assertThat(((SQLException) e).getSQLState()).isEqualTo("40001"));
    assertThat(bank.everything()).isEqualTo(before);
  }

  private void assertConflict(AccountId from, AccountId to, String currency) {
    assertThatThrownBy(() -> move(from, to, currency, LATER))
        .as("%s of %s to %s", currency, from, to)
        .hasRootCauseInstanceOf(SQLException.class)
        .rootCause()
        .satisfies(e -> assertThat(((SQLException) e).getSQLState()).isEqualTo("40001"));
  }

  private void move(AccountId from, AccountId to, String currency, Instant time) {
    move(from, to, currency, time, Duration.ofDays(100_000).toSeconds() * 1_000_000);
  }

  private void move(
      AccountId from, AccountId to, String currency, Instant time, long toleranceMicros) {
    try (Connection connection = database.connection();
        PreparedStatement move =
            connection.prepareStatement(
                "SELECT lockstep.move(?, ?, ?, ?, 1, ?, ?, ?, '60000', '60000')")) {
      move.setLong(1, bank.book().value());
      move.setObject(2, TransferId.next().value());
      move.setLong(3, from.value());
      move.setLong(4, to.value());
      move.setString(5, currency);
      move.setLong(6, time.toEpochMilli() * 1_000);
      move.setLong(7, toleranceMicros);
      move.execute();
    } catch (SQLException e) {
      throw new CompletionException(e);
    }
  }

  private boolean lockUnlessLocked(Connection connection, AccountId account) throws SQLException {
    try (PreparedStatement lock =
        connection.prepareStatement(
            """
            SELECT 1 FROM lockstep.account WHERE book = ? AND account = ?
            FOR UPDATE SKIP LOCKED""")) {
      lock.setLong(1, bank.book().value());
      lock.setLong(2, account.value());
      return lock.executeQuery().next();
    }
  }
}
