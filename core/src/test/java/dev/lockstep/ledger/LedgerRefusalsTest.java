package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Post;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerOutcome.BalanceOverflow;
import dev.lockstep.ledger.LedgerOutcome.CurrencyMismatch;
import dev.lockstep.ledger.LedgerOutcome.Done;
import dev.lockstep.ledger.LedgerOutcome.InsufficientFunds;
import dev.lockstep.ledger.LedgerOutcome.UnknownAccount;
import dev.lockstep.ledger.LedgerOutcome.UnknownTransfer;
import dev.lockstep.ledger.LedgerViolation.Check;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever is wrong is refused precisely, and nothing in the database has changed. */
class LedgerRefusalsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  private static final AccountId NOBODY = new AccountId(999);

  @Test
  void whatCannotBeAskedIsNoCommand() {
    AccountId a = new AccountId(1);
    AccountId b = new AccountId(2);
    Money ten = new Money(10, "JPY");
    TransferId id = TransferId.next();
    BookId book = bank.book();
    List<Runnable> wrong =
        List.of(
            () -> new Money(0, "JPY"),
            () -> new Money(-1, "JPY"),
            () -> new Money(Long.MIN_VALUE, "JPY"),
            () -> new Money(1, "jpy"),
            () -> new Money(1, ""),
            () -> new Money(1, "ABCDEFGHIJKLM"),
            () -> new Money(1, "J\0Y"),
            () -> new Move(book, id, a, a, ten),
            () -> new Reserve(book, id, a, a, ten, Bank.A_WHILE),
            () -> new Reserve(book, id, a, b, ten, Duration.ofMillis(999)),
            () -> new Post(book, id, OptionalLong.of(0)),
            () -> new Linked(book, List.of()),
            () -> new Linked(book, Collections.nCopies(101, new Move(book, id, a, b, ten))),
            () -> new Linked(book, Collections.nCopies(2, new Move(book, id, a, b, ten))),
            () -> new Linked(new BookId(-7), List.of(new Move(book, id, a, b, ten))),
            () ->
                new Linked(book, List.of(new Linked(book, List.of(new Move(book, id, a, b, ten))))),
            () -> NewAccount.of(a, " ", "JPY"),
            () -> NewAccount.of(a, "x".repeat(201), "JPY"),
            () -> NewAccount.of(a, "half \ud83d", "JPY"),
            () -> new NewAccount(a, "rich", "JPY", OptionalLong.of(1)),
            () -> bank.node().submit(new Reserve(book, id, a, b, ten, Duration.ofDays(31))),
            () -> bank.node().entries(book, a, 0, 0),
            () -> bank.node().entries(book, a, 0, Ledger.MAX_PAGE + 1),
            () -> bank.node().setFloor(book, a, OptionalLong.of(1)),
            () -> LedgerConfig.DEFAULT.withSweepBatch(0),
            () -> LedgerConfig.DEFAULT.withMaxPendingFor(Duration.ZERO));
    List<String> before = bank.everything();

    assertThat(wrong)
        .allSatisfy(asked -> assertThatIllegalArgumentException().isThrownBy(asked::run));
    assertThat(bank.everything()).isEqualTo(before);
  }

  @Test
  void whatIsNotThereOrDoesNotFitIsRefusedAndNothingMoves() {
    AccountId world = bank.world();
    AccountId rich = bank.open(OptionalLong.empty());
    AccountId purse = bank.with(world, 100);
    AccountId dollars = new AccountId(50);
    bank.node()
        .openAccounts(bank.book(), List.of(NewAccount.withoutFloor(dollars, "dollars", "USD")));
    bank.ask(bank.move(world, rich, Long.MAX_VALUE - 100));
    List<String> before = bank.everything();
    BookId elsewhere = new BookId(-1);
    Money one = new Money(1, "JPY");
    TransferId id = TransferId.next();

    assertThat(bank.ask(bank.move(NOBODY, purse, 1))).isEqualTo(new UnknownAccount(NOBODY));
    assertThat(bank.ask(bank.move(purse, NOBODY, 1))).isEqualTo(new UnknownAccount(NOBODY));
    assertThat(bank.ask(new Move(elsewhere, id, world, purse, one)))
        .isEqualTo(new UnknownAccount(world));
    assertThat(bank.ask(bank.move(purse, dollars, 1)))
        .isEqualTo(new CurrencyMismatch(dollars, "USD", "JPY"));
    assertThat(bank.ask(new Move(bank.book(), id, purse, world, new Money(1, "USD"))))
        .isEqualTo(new CurrencyMismatch(purse, "JPY", "USD"));
    assertThat(bank.ask(bank.move(purse, world, 101)))
        .isEqualTo(new InsufficientFunds(purse, 100, 101));
    assertThat(bank.ask(bank.move(purse, world, Long.MAX_VALUE)))
        .isEqualTo(new InsufficientFunds(purse, 100, Long.MAX_VALUE));
    assertThat(bank.ask(bank.move(purse, rich, 100))).isInstanceOf(Done.class);
    assertThat(bank.ask(bank.move(world, rich, 1))).isEqualTo(new BalanceOverflow(rich));
    assertThat(bank.ask(bank.move(world, purse, 200))).isEqualTo(new BalanceOverflow(world));
    assertThat(bank.ask(bank.post(id))).isEqualTo(new UnknownTransfer(id));
    assertThat(bank.ask(bank.cancel(id))).isEqualTo(new UnknownTransfer(id));
    assertThat(bank.everything().size()).as("the one that was done").isEqualTo(before.size() + 3);
  }

  @Test
  void whatIsAvailableNeverFallsBelowWhatCanBeCounted() {
    AccountId world = bank.world();
    AccountId to = bank.open(OptionalLong.empty());
    long most = Long.MAX_VALUE / 8 * 5;
    assertThat(bank.ask(bank.reserve(world, to, most))).isInstanceOf(Done.class);

    assertThat(bank.ask(bank.move(world, to, Long.MAX_VALUE / 2)))
        .isEqualTo(new BalanceOverflow(world));
    assertThat(bank.ask(bank.move(world, to, Long.MAX_VALUE - most))).isInstanceOf(Done.class);
    assertThat(bank.ask(bank.move(world, to, 1))).as("the last one").isInstanceOf(Done.class);
    assertThat(bank.ask(bank.move(world, to, 1))).isEqualTo(new BalanceOverflow(world));
  }

  @Test
  void accountsAreOpenedAllOrNoneAndOnlyInABook() {
    AccountId there = bank.world();
    List<String> before = bank.everything();

    assertThatThrownBy(
            () ->
                bank.node()
                    .openAccounts(
                        bank.book(),
                        List.of(
                            NewAccount.of(NOBODY, "new", "JPY"), NewAccount.of(there, "x", "JPY"))))
        .isInstanceOf(ConstraintViolated.class);
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                bank.node()
                    .openAccounts(new BookId(-1), List.of(NewAccount.of(NOBODY, "x", "JPY"))));
    assertThat(bank.everything()).isEqualTo(before);
  }

  @Test
  void aFloorCanBeMovedButNotAboveWhatIsThere() {
    AccountId world = bank.world();
    AccountId account = bank.open(OptionalLong.of(0));
    assertThat(bank.node().setFloor(bank.book(), account, OptionalLong.of(-10))).isTrue();
    assertThat(bank.ask(bank.move(account, world, 10))).isInstanceOf(Done.class);

    assertThat(bank.node().setFloor(bank.book(), account, OptionalLong.of(-9))).isFalse();
    assertThat(bank.node().setFloor(bank.book(), account, OptionalLong.empty())).isTrue();
    assertThat(bank.ask(bank.move(account, world, 1_000))).isInstanceOf(Done.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE lockstep.entry SET amount = 0",
        "DELETE FROM lockstep.entry",
        "TRUNCATE lockstep.entry",
        "UPDATE lockstep.account SET balance = -1 WHERE floor = 0",
        "UPDATE lockstep.account SET pending = 101 WHERE floor = 0",
        "UPDATE lockstep.transfer SET state = NULL",
        "UPDATE lockstep.transfer SET posted = amount + 1",
        "UPDATE lockstep.transfer SET amount = -amount, posted = -posted",
        "UPDATE lockstep.transfer SET target = source"
      })
  void theDatabaseItselfRefuses(String statement) throws SQLException {
    AccountId world = bank.world();
    bank.with(world, 100);
    List<String> before = bank.everything();

    try (Connection connection = database.connection()) {
      SQLException refused =
          catchThrowableOfType(SQLException.class, () -> Sql.execute(connection, statement));
      assertThat(SqlFault.of(refused)).isEqualTo(SqlFault.CONSTRAINT);
    }
    assertThat(bank.everything()).isEqualTo(before);
  }

  /** What is changed behind the ledger's back, by whoever may switch triggers off, is found. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          UPDATE lockstep.account SET balance = balance + 1 WHERE book = :b AND account = 2 | TRIAL_BALANCE
          UPDATE lockstep.account SET balance = balance + 1 WHERE book = :b AND account = 2 | ACCOUNT_ENTRIES
          UPDATE lockstep.account SET version = version + 1 WHERE book = :b AND account = 2 | ACCOUNT_ENTRIES
          UPDATE lockstep.account SET pending = pending + 1 WHERE book = :b AND account = 2 | PENDING
          UPDATE lockstep.entry SET amount = amount + 1 WHERE book = :b AND account = 2 AND version = 1 | DOUBLE_ENTRY
          UPDATE lockstep.entry SET balance = balance + 1 WHERE book = :b AND account = 2 AND version = 1 | ENTRY_CHAIN
          DELETE FROM lockstep.entry WHERE book = :b AND account = 2 AND version = 1 | ENTRY_CHAIN
          DELETE FROM lockstep.transfer WHERE book = :b AND state = 0 | PENDING
          """)
  void whatIsChangedBehindItsBackIsFound(String statement, Check check) throws SQLException {
    AccountId world = bank.world();
    AccountId account = bank.with(world, 100);
    bank.ask(bank.reserve(account, world, 10));
    bank.ask(bank.move(account, world, 5));
    assertThat(bank.node().checkAll().violations()).isEmpty();
    String sql = statement.replace(":b", String.valueOf(bank.book().value()));

    database.execute("CREATE SCHEMA IF NOT EXISTS kept");
    for (String table : List.of("account", "entry", "transfer")) {
      database.execute("CREATE TABLE kept.%1$s AS SELECT * FROM lockstep.%1$s".formatted(table));
    }
    database.execute(
        "SET session_replication_role = replica; " + sql + "; RESET session_replication_role");
    try {
      assertThat(bank.node().checkAll().violations())
          .extracting(LedgerViolation::check)
          .contains(check);
    } finally {
      for (String table : List.of("account", "entry", "transfer")) {
        database.execute(
            """
            SET session_replication_role = replica;
            DELETE FROM lockstep.%1$s;
            INSERT INTO lockstep.%1$s SELECT * FROM kept.%1$s;
            DROP TABLE kept.%1$s;
            RESET session_replication_role;"""
                .formatted(table));
      }
    }
  }

  @Test
  void theIncrementalCheckLooksOnlyAtWhatChanged() {
    AccountId world = bank.world();
    AccountId account = bank.with(world, 100);
    bank.node().checkChanged();

    assertThat(bank.node().checkChanged().accounts()).isZero();
    bank.ask(bank.move(account, world, 1));
    LedgerReport report = bank.node().checkChanged();

    assertThat(report.accounts()).isEqualTo(2);
    assertThat(report.entries()).isEqualTo(2);
    assertThat(report.ok()).isTrue();
  }

  /**
   * More entries than are gone through at once, in several books; and one of the books is broken.
   */
  @Test
  void theBooksAreLookedAtSomeAtATimeAndTheBrokenOneAgain() {
    bank.node().checkChanged();
    List<BookId> books = Stream.of(1, 2, 3).map(n -> bookOf(2_600, n)).toList();
    String change =
        """
        SET session_replication_role = replica;
        UPDATE lockstep.entry SET balance = balance %s WHERE book = %d AND account = 2 AND version = 7;
        RESET session_replication_role""";
    database.execute(change.formatted("+ 1", books.get(1).value()));
    try {
      LedgerReport first = bank.node().checkChanged();
      LedgerReport second = bank.node().checkChanged();

      assertThat(first.accounts()).isEqualTo(6);
      assertThat(first.entries()).isEqualTo(3 * 2 * 2_600);
      assertThat(second.accounts()).as("the others are marked as sound").isEqualTo(2);
      assertThat(List.of(first, second))
          .allSatisfy(
              report ->
                  assertThat(report.violations())
                      .extracting(LedgerViolation::book)
                      .containsOnly(books.get(1)));
    } finally {
      database.execute(change.formatted("- 1", books.get(1).value()));
    }
    assertThat(bank.node().checkChanged().ok()).isTrue();
  }

  /** In a book that is gone through in slices, as in a small one. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          UPDATE lockstep.account SET version = version + 1 WHERE book = :b AND account = 2 | ACCOUNT_ENTRIES
          UPDATE lockstep.entry SET amount = amount + 1 WHERE book = :b AND account = 2 AND version = 5900 | DOUBLE_ENTRY
          UPDATE lockstep.entry SET balance = balance + 1 WHERE book = :b AND account = 2 AND version = 5000 | ENTRY_CHAIN
          DELETE FROM lockstep.entry WHERE book = :b AND account = 1 AND version = 3000 | ENTRY_CHAIN
          UPDATE lockstep.transfer SET amount = 2, posted = 2 WHERE book = :b AND source = 1 | DOUBLE_ENTRY
          """)
  void whatIsChangedInALargeBookIsFound(String statement, Check check) {
    BookId book = bookOf(6_000, 100 + statement.length());
    assertThat(bank.node().checkAll().violations()).isEmpty();
    String mark = "SET session_replication_role = replica; %s; RESET session_replication_role";

    database.execute(mark.formatted(statement.replace(":b", String.valueOf(book.value()))));

    assertThat(bank.node().checkAll().violations())
        .anySatisfy(
            violation -> {
              assertThat(violation.check()).isEqualTo(check);
              assertThat(violation.book()).isEqualTo(book);
            });
    for (String table : List.of("account", "entry", "transfer", "ledger_mark", "book")) {
      database.execute(
          mark.formatted("DELETE FROM lockstep." + table + " WHERE book = " + book.value()));
    }
  }

  private BookId bookOf(int transfers, int number) {
    BookId book = new BookId(bank.book().value() + number);
    AccountId world = new AccountId(1);
    AccountId till = new AccountId(2);
    bank.node().openBook(book);
    bank.node()
        .openAccounts(
            book,
            List.of(
                NewAccount.withoutFloor(world, "world", "JPY"),
                NewAccount.of(till, "till", "JPY")));
    List<Move> moves =
        Stream.generate(() -> new Move(book, TransferId.next(), world, till, new Money(1, "JPY")))
            .limit(transfers)
            .toList();
    bank.transactor().run(connection -> bank.node().runAll(connection, moves));
    return book;
  }
}
