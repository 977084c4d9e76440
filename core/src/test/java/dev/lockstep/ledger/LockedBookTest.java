package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.fault.LockTimeout;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A book that somebody has locked keeps neither sweep nor check from the others. */
class LockedBookTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  private static final BookId LATER = new BookId(1_000);

  @Test
  void oneLockedBookKeepsTheSweepFromNoOther() throws Exception {
    AccountId world = bank.world();
    Reserve stuck = bank.reserve(bank.with(world, 10), world, 5);
    bank.ask(stuck);
    bank.expire(stuck.id());
    Reserve due = reserveInALaterBook();
    bank.expire(due.id());

    try (Ledger impatient = impatient();
        Connection connection =
            lock(
                "SELECT count(*) FROM (SELECT FROM lockstep.account WHERE book = ? FOR UPDATE) l")) {
      assertThatThrownBy(impatient::sweep).isInstanceOf(LockTimeout.class);

      assertThat(state(LATER, due)).isEqualTo(Transfer.State.EXPIRED);
      assertThat(state(bank.book(), stuck)).isEqualTo(Transfer.State.PENDING);
      connection.rollback();
      assertThat(impatient.sweep()).isEqualTo(1);
    }
  }

  @Test
  void oneLockedBookKeepsTheCheckFromNoOther() throws Exception {
    AccountId world = bank.world();
    AccountId account = bank.with(world, 10);
    bank.node().checkChanged();
    bank.ask(bank.move(world, account, 1));
    BookId later = new BookId(2_000);
    move(later, 5);

    try (Connection connection =
        lock(
            "SELECT count(*) FROM (SELECT FROM lockstep.ledger_mark WHERE book = ? FOR UPDATE) l")) {
      Ledger impatient =
          new Ledger(
              new Transactor(
                  database.dataSource(),
                  TxOptions.DEFAULT.withLockTimeout(Duration.ofMillis(100)),
                  attempt -> {}));
      assertThatThrownBy(impatient::checkChanged).isInstanceOf(LockTimeout.class);
      impatient.close();
      connection.rollback();
    }
    assertThat(marks(later)).isEqualTo(2);
  }

  private Reserve reserveInALaterBook() {
    move(LATER, 10);
    Reserve reserve =
        new Reserve(
            LATER,
            TransferId.next(),
            new AccountId(2),
            new AccountId(1),
            new Money(5, Bank.JPY),
            Bank.A_WHILE);
    bank.ask(reserve);
    return reserve;
  }

  private void move(BookId book, long amount) {
    bank.node().openBook(book);
    bank.node()
        .openAccounts(
            book,
            List.of(
                new NewAccount(new AccountId(1), "world", Bank.JPY, OptionalLong.empty()),
                new NewAccount(new AccountId(2), "purse", Bank.JPY, OptionalLong.of(0))));
    bank.ask(
        new Move(
            book,
            TransferId.next(),
            new AccountId(1),
            new AccountId(2),
            new Money(amount, Bank.JPY)));
  }

  private Transfer.State state(BookId book, Reserve reserve) {
    return bank.node().transfer(book, reserve.id()).orElseThrow().state();
  }

  private static long marks(BookId book) {
    return database.queryLong(
        "SELECT count(*) FROM lockstep.ledger_mark WHERE book = ?", book.value());
  }

  private Connection lock(String sql) throws Exception {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    Sql.query(connection, sql, bank.book().value());
    return connection;
  }

  private Ledger impatient() {
    CombinerConfig combiner = LedgerConfig.DEFAULT.combiner();
    return new Ledger(
        bank.transactor(),
        LedgerConfig.DEFAULT.withCombiner(
            combiner.withTransaction(
                combiner.transaction().withLockTimeout(Duration.ofMillis(50)))));
  }
}
