package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerViolation.LedgerInvariant;
import dev.lockstep.testkit.TestDatabase;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The accounts of a large book are marked some at a time, while money moves between them. */
class LargeBookMarksTest {
  /** So many that they are marked in two snapshots. */
  private static final int ACCOUNTS = 1_100;

  /** So many that the book is large. */
  private static final int MOVES = 2_600;

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  @Test
  void aTransferBetweenAMarkedAndAnUnmarkedAccountIsNoFinding() {
    List<NewAccount> accounts =
        LongStream.rangeClosed(1, ACCOUNTS)
            .mapToObj(id -> NewAccount.withoutFloor(new AccountId(id), "account " + id, "JPY"))
            .toList();
    bank.node().openAccounts(bank.book(), accounts);
    AccountId first = new AccountId(1);
    AccountId last = new AccountId(ACCOUNTS);
    List<Move> moves = Stream.generate(() -> bank.move(first, last, 1)).limit(MOVES).toList();
    bank.transactor().run(connection -> bank.node().joinAll(connection, moves));

    // After each slice; so also between the two snapshots.
    LedgerReport report = bank.node().checkAll(progress -> bank.ask(bank.move(first, last, 1)));

    assertThat(report.violations()).isEmpty();
    assertThat(markOf(first)).as("one half of some transfer is checked").isLessThan(markOf(last));
    assertThat(bank.node().checkChanged().violations()).isEmpty();
    assertThat(bank.node().checkChanged().accounts()).isZero();
  }

  /** Both accounts have the same number of entries. */
  private long markOf(AccountId account) {
    return database.queryLong(
        "SELECT version FROM lockstep.ledger_mark WHERE book = ? AND account = ?",
        bank.book().value(),
        account.value());
  }

  @Test
  void anEntryWithoutItsOtherHalfIsStillAFinding() {
    AccountId world = bank.world();
    AccountId account = bank.with(world, 100);
    assertThat(bank.node().checkChanged().violations()).isEmpty();
    bank.ask(bank.move(account, world, 5));
    String change =
        """
        SET session_replication_role = replica;
        UPDATE lockstep.entry SET amount = amount %1$s 1, balance = balance %1$s 1
        WHERE book = %2$d AND account = %3$d AND version = 2;
        UPDATE lockstep.account SET balance = balance %1$s 1 WHERE book = %2$d AND account = %3$d;
        RESET session_replication_role""";

    database.execute(change.formatted("+", bank.book().value(), account.value()));
    try {
      assertThat(bank.node().checkChanged().violations())
          .extracting(LedgerViolation::check)
          .contains(LedgerInvariant.DOUBLE_ENTRY);
    } finally {
      database.execute(change.formatted("-", bank.book().value(), account.value()));
    }
  }

  /** Each of two transfers has one entry, so that all sums agree. */
  @Test
  void aLookAtEverythingFindsTransfersOfWhichOneHalfIsGone() {
    AccountId world = bank.world();
    AccountId account = bank.with(world, 100);
    assertThat(bank.node().checkChanged().violations()).isEmpty();
    bank.ask(bank.move(account, world, 5));
    bank.ask(bank.move(account, world, 5));
    String kept =
        """
        CREATE TABLE kept_entry AS SELECT * FROM lockstep.entry WHERE book = %1$d;
        CREATE TABLE kept_account AS SELECT * FROM lockstep.account WHERE book = %1$d;
        SET session_replication_role = replica;
        DELETE FROM lockstep.entry WHERE book = %1$d
          AND (account, version) IN ((%2$d, 3), (%3$d, 2));
        UPDATE lockstep.entry SET version = 2, balance = balance - amount
        WHERE book = %1$d AND account = %3$d AND version = 3;
        UPDATE lockstep.account a SET version = 2, balance = (SELECT balance FROM lockstep.entry e
          WHERE e.book = a.book AND e.account = a.account AND e.version = 2)
        WHERE book = %1$d AND account IN (%2$d, %3$d);
        RESET session_replication_role""";
    String restored =
        """
        SET session_replication_role = replica;
        DELETE FROM lockstep.entry WHERE book = %1$d;
        INSERT INTO lockstep.entry SELECT * FROM kept_entry;
        DELETE FROM lockstep.account WHERE book = %1$d;
        INSERT INTO lockstep.account SELECT * FROM kept_account;
        DROP TABLE kept_entry, kept_account;
        RESET session_replication_role""";

    database.execute(kept.formatted(bank.book().value(), account.value(), world.value()));
    try {
      assertThat(bank.node().checkAll().violations())
          .extracting(LedgerViolation::check)
          .containsOnly(LedgerInvariant.DOUBLE_ENTRY)
          .hasSize(2);
    } finally {
      database.execute(restored.formatted(bank.book().value()));
    }
  }
}
