package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.ledger.LedgerCommand.Cancel;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Post;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerOutcome.Done;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxAttempt;
import dev.lockstep.tx.TxOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A book of its own for each test, the nodes that serve it, and short ways to ask them. Whatever
 * the test did, after it the books must balance.
 */
final class Bank implements BeforeEachCallback, AfterEachCallback {
  static final String JPY = "JPY";
  static final Duration A_WHILE = Duration.ofMinutes(15);

  private final TestDatabase database;
  private final List<Ledger> nodes = new ArrayList<>();
  private final Queue<TxAttempt> attempts = new ConcurrentLinkedQueue<>();

  @SuppressWarnings("NullAway.Init") // Before each test, when the database is there.
  private Transactor transactor;

  @SuppressWarnings("NullAway.Init")
  private BookId book;

  private long accounts;

  Bank(TestDatabase database) {
    this.database = database;
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    transactor = newTransactor();
    nodes.add(new Ledger(transactor));
    book = new BookId(database.queryLong("SELECT coalesce(max(book), 0) + 1 FROM lockstep.book"));
    node().openBook(book);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    nodes.forEach(Ledger::close);
    checkBooks();
  }

  Transactor transactor() {
    return transactor;
  }

  BookId book() {
    return book;
  }

  Ledger node() {
    return nodes.get(0);
  }

  /** Another server of the same database: it shares nothing with the first but the rows. */
  Ledger anotherNode() {
    Ledger node = new Ledger(newTransactor());
    nodes.add(node);
    return node;
  }

  AccountId open(OptionalLong floor) {
    AccountId id = new AccountId(++accounts);
    node().openAccounts(book, List.of(new NewAccount(id, "account " + id.value(), JPY, floor)));
    return id;
  }

  /** Without a floor: where money comes from. */
  AccountId world() {
    return open(OptionalLong.empty());
  }

  /** With a floor of 0, and so much in it. */
  AccountId with(AccountId world, long amount) {
    AccountId account = open(OptionalLong.of(0));
    if (amount > 0) {
      assertThat(ask(move(world, account, amount))).isInstanceOf(Done.class);
    }
    return account;
  }

  Move move(AccountId from, AccountId to, long amount) {
    return new Move(book, TransferId.next(), from, to, new Money(amount, JPY));
  }

  Reserve reserve(AccountId from, AccountId to, long amount) {
    return new Reserve(book, TransferId.next(), from, to, new Money(amount, JPY), A_WHILE);
  }

  Post post(TransferId id) {
    return Post.all(book, id);
  }

  Post post(TransferId id, long amount) {
    return new Post(book, id, OptionalLong.of(amount));
  }

  Cancel cancel(TransferId id) {
    return new Cancel(book, id);
  }

  Linked linked(LedgerCommand<?>... steps) {
    return new Linked(book, List.of(steps));
  }

  <R extends LedgerOutcome> R ask(Door door, Ledger node, LedgerCommand<R> command) {
    return ask(door, transactor, node, command);
  }

  /** Where there is no bank, but its books. */
  static <R extends LedgerOutcome> R ask(
      Door door, Transactor transactor, Ledger node, LedgerCommand<R> command) {
    return door.ask(
        transactor, () -> node.submit(command), connection -> node.run(connection, command));
  }

  /** Through the first node's queue. */
  <R extends LedgerOutcome> R ask(LedgerCommand<R> command) {
    return ask(Door.QUEUE, node(), command);
  }

  Account account(AccountId id) {
    return node().account(book, id).orElseThrow();
  }

  long balance(AccountId id) {
    return account(id).balance();
  }

  /** Puts the expiry of a pending transfer into the past. */
  void expire(TransferId id) {
    assertThat(
            database.query(
                "UPDATE lockstep.transfer SET expires_at = created_at - interval '1 second'"
                    + " WHERE transfer = ?::uuid RETURNING state",
                row -> row.getInt(1),
                id.toString()))
        .containsExactly(0);
  }

  List<SqlFault> faults() {
    return attempts.stream().flatMap(attempt -> attempt.fault().stream()).toList();
  }

  /** Every row, to compare before and after. */
  List<String> everything() {
    return database.query(
        """
        SELECT 'account' || t::text FROM lockstep.account t UNION ALL
        SELECT 'transfer' || t::text FROM lockstep.transfer t UNION ALL
        SELECT 'entry' || t::text FROM lockstep.entry t ORDER BY 1""",
        row -> row.getString(1));
  }

  /** In SQL of its own, so that it is no part of what it checks. */
  void checkBooks() {
    assertThat(
            database.query(
                """
                SELECT a.account, a.balance, a.pending, a.version,
                  coalesce(e.total, 0), coalesce(e.entries, 0), coalesce(t.reserved, 0)
                FROM lockstep.account a
                LEFT JOIN (SELECT book, account, sum(amount) AS total, count(*) AS entries
                           FROM lockstep.entry GROUP BY book, account) e
                  ON e.book = a.book AND e.account = a.account
                LEFT JOIN (SELECT book, source, sum(amount) AS reserved FROM lockstep.transfer
                           WHERE state = 0 GROUP BY book, source) t
                  ON t.book = a.book AND t.source = a.account
                WHERE a.balance <> coalesce(e.total, 0) OR a.version <> coalesce(e.entries, 0)
                  OR a.pending <> coalesce(t.reserved, 0) OR a.balance - a.pending < a.floor""",
                row -> row.getString(1) + " " + row.getString(2) + " " + row.getString(5)))
        .as("accounts that differ from their entries and transfers, or are below their floor")
        .isEmpty();
    assertThat(
            database.query(
                "SELECT sum(balance)::bigint FROM lockstep.account GROUP BY book, currency",
                row -> row.getLong(1)))
        .allMatch(sum -> sum == 0);
    assertThat(node().checkAll().violations()).isEmpty();
  }

  private Transactor newTransactor() {
    return new Transactor(database.dataSource(), TxOptions.DEFAULT, attempts::add);
  }
}
