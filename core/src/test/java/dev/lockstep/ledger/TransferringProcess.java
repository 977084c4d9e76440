package dev.lockstep.ledger;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.combine.Door;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A server of its own, whose callers move money about until it is killed; it prints every transfer
 * once it knows of it.
 */
final class TransferringProcess {
  private static final int CALLERS = 8;
  private static final String MOVED = "moved ";

  private TransferringProcess() {}

  static ChildJvm start(TestDatabase database, BookId book) {
    return ChildJvm.start(
        TransferringProcess.class,
        database.url(),
        database.user(),
        database.password(),
        Long.toString(book.value()));
  }

  static void awaitTransfers(ChildJvm child, int count) throws InterruptedException {
    for (int i = 0; i < count; i++) {
      child.awaitLine(line -> line.startsWith(MOVED));
    }
  }

  /** What the process has told the world. A line that was cut short by its death is no promise. */
  static List<TransferId> told(ChildJvm child) {
    return child.lines().stream()
        .filter(line -> line.startsWith(MOVED) && line.endsWith("."))
        .map(line -> TransferId.of(line.substring(MOVED.length(), line.length() - 1)))
        .toList();
  }

  public static void main(String[] args) throws Exception {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(args[0]);
    config.setUsername(args[1]);
    config.setPassword(args[2]);
    config.setMaximumPoolSize(CALLERS);
    BookId book = new BookId(Long.parseLong(args[3]));
    HikariDataSource pool = new HikariDataSource(config);
    Transactor transactor = new Transactor(pool);
    Ledger ledger = new Ledger(transactor);
    // Not the one that all of it came from, which has no floor.
    List<AccountId> accounts =
        ledger.accounts(book, new AccountId(0), Ledger.MAX_PAGE).stream()
            .filter(account -> account.floor().isPresent())
            .map(Account::id)
            .toList();
    for (int i = 0; i < CALLERS; i++) {
      int caller = i;
      new Thread(() -> moveForEver(transactor, ledger, book, accounts, caller)).start();
    }
  }

  private static void moveForEver(
      Transactor transactor, Ledger ledger, BookId book, List<AccountId> accounts, int caller) {
    SplittableRandom random = new SplittableRandom(caller);
    while (true) {
      Move move = random(random, book, accounts);
      if (Bank.ask(Door.of(caller), transactor, ledger, move) instanceof TransferDone) {
        System.out.println(MOVED + move.id() + ".");
      }
    }
  }

  /** From any account to any other, more than some of them have. */
  static Move random(SplittableRandom random, BookId book, List<AccountId> accounts) {
    int from = random.nextInt(accounts.size());
    int to = (from + 1 + random.nextInt(accounts.size() - 1)) % accounts.size();
    Money money = new Money(1 + random.nextLong(400), Bank.JPY);
    return new Move(book, TransferId.next(), accounts.get(from), accounts.get(to), money);
  }
}
