package dev.lockstep.ledger;

import static java.util.Objects.requireNonNull;

import dev.lockstep.combine.CommandDoor;
import dev.lockstep.combine.Companion;
import dev.lockstep.combine.CompanionResult;
import dev.lockstep.combine.Sweeper;
import dev.lockstep.ledger.LedgerQueries.Versions;
import dev.lockstep.sql.Exchange;
import dev.lockstep.tx.Transactor;
import dev.lockstep.work.OpenTransaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * Moves money between accounts.
 *
 * <p><b>Promises.</b> Money is conserved: each transfer is two entries that add up to zero, and so
 * do the balances of a currency at every instant. No account falls below its floor. Opposite
 * transfers do not deadlock: accounts are locked in the order of their ids. A pending transfer ends
 * once: posted, voided or expired. Linked commands happen all or none. The same {@link TransferId}
 * again has no further effect. Every change of an account is an entry, which is never altered.
 *
 * <p><b>Who commits.</b> {@link #submit} and {@link #call} queue a command and combine it with
 * those of other callers; Lockstep commits. {@link #join} and {@link #joinAll} decide commands on
 * the caller's connection, in the caller's transaction; the caller commits, and the accounts stay
 * locked until then. To move money several times in one transaction, pass all commands to one
 * {@link #joinAll}, which locks every account in order.
 *
 * <p>Thread-safe. {@link #close} lets queued commands finish, in bounded time.
 */
public final class Ledger implements AutoCloseable {
  public static final int MAX_PAGE = 10_000;

  private final Transactor transactor;
  private final CommandDoor<BookId, LedgerCommand<?>, LedgerOutcome> door;

  public Ledger(Transactor transactor) {
    this(transactor, LedgerConfig.DEFAULT);
  }

  public Ledger(Transactor transactor, LedgerConfig config) {
    this.transactor = requireNonNull(transactor, "transactor is null");
    requireNonNull(config, "config is null; pass DEFAULT");
    this.door = new CommandDoor<>(transactor, new LedgerOperation(config), config.combiner());
  }

  /**
   * Queues a command. The stage completes after the transaction committed, with the command's
   * outcome, or exceptionally with a {@link dev.lockstep.fault.LockstepException}. If the queue is
   * full, it completes at once with {@link LedgerOutcome.LedgerOverloaded}. Callbacks may block,
   * but while 1,024 do, later stages of this object wait for a thread.
   *
   * @throws IllegalArgumentException if the command asks for more time than configured
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <O extends LedgerOutcome> CompletionStage<O> submit(LedgerCommand<O> command) {
    return (CompletionStage<O>) door.submit(command);
  }

  /** As {@link #submit(LedgerCommand)}, with a companion that writes in the same transaction. */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <O extends LedgerOutcome, P, R> CompletionStage<CompanionResult<O, R>> submit(
      LedgerCommand<O> command, Companion<P, LedgerOutcome, R> companion, P payload) {
    return (CompletionStage<CompanionResult<O, R>>)
        (CompletionStage<?>) door.submit(command, companion, payload);
  }

  /**
   * As {@link #submit(LedgerCommand)}, and waits for the answer. If no other command is ahead, the
   * calling thread runs the transaction and saves the wait for another thread to wake up.
   *
   * @throws dev.lockstep.fault.LockstepException for a fault
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <O extends LedgerOutcome> O call(LedgerCommand<O> command) {
    return (O) door.call(command);
  }

  /** As {@link #call(LedgerCommand)}, with a companion that writes in the same transaction. */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <O extends LedgerOutcome, P, R> CompanionResult<O, R> call(
      LedgerCommand<O> command, Companion<P, LedgerOutcome, R> companion, P payload) {
    return (CompanionResult<O, R>) door.call(command, companion, payload);
  }

  /**
   * Decides a command on the caller's connection. The caller commits.
   *
   * @throws dev.lockstep.fault.SerializationConflict if another transaction was faster: roll back
   *     and start again, which {@link Transactor#call} does for you
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <O extends LedgerOutcome> O join(Connection connection, LedgerCommand<O> command) {
    return (O) joinAll(connection, List.of(requireNonNull(command, "command is null"))).get(0);
  }

  /**
   * As {@link #join(Connection, LedgerCommand)}, with a companion that writes in the same
   * transaction.
   *
   * @throws dev.lockstep.combine.CommandRefused if the companion refuses the command: roll back
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <O extends LedgerOutcome, P, R> CompanionResult<O, R> join(
      Connection connection,
      LedgerCommand<O> command,
      Companion<P, LedgerOutcome, R> companion,
      P payload) {
    return (CompanionResult<O, R>) door.join(connection, command, companion, payload);
  }

  /**
   * Decides commands on the caller's connection. Books go in ascending order; within a book,
   * commands go in the given order. Returns one outcome per command, in the given order. The caller
   * commits.
   *
   * @throws dev.lockstep.fault.SerializationConflict as {@link #join}
   */
  public List<LedgerOutcome> joinAll(
      Connection connection, List<? extends LedgerCommand<?>> commands) {
    return door.joinAll(connection, commands);
  }

  /**
   * As {@link #joinAll(Connection, List)}, in a companion of another block's batch: the writes
   * travel with that batch's COMMIT.
   */
  public List<LedgerOutcome> joinAll(
      OpenTransaction transaction, List<? extends LedgerCommand<?>> commands) throws SQLException {
    return door.joinAll(Exchange.of(transaction), commands);
  }

  /** Opens a book; does nothing if it exists. */
  public void openBook(BookId book) {
    transactor.run(connection -> openBook(connection, book));
  }

  /** As {@link #openBook(BookId)}, on the caller's connection. */
  public void openBook(Connection connection, BookId book) {
    transactor.runJoined(connection, c -> LedgerQueries.openBook(c, book));
  }

  /**
   * Opens accounts in a book, all or none.
   *
   * @throws dev.lockstep.fault.ConstraintViolated if one of them exists
   * @throws IllegalArgumentException if the book does not exist
   */
  public void openAccounts(BookId book, List<NewAccount> accounts) {
    transactor.run(connection -> openAccounts(connection, book, accounts));
  }

  /** As {@link #openAccounts(BookId, List)}, on the caller's connection. */
  public void openAccounts(Connection connection, BookId book, List<NewAccount> accounts) {
    requireNonNull(accounts, "accounts is null");
    int opened =
        transactor.join(connection, c -> LedgerQueries.openAccounts(c, book, accounts, false));
    if (opened != accounts.size()) {
      throw new IllegalArgumentException("There is no book " + book.value() + "; open it first");
    }
  }

  /** Opens the book and the accounts that do not exist yet. The caller commits. */
  public void ensureAccounts(Connection connection, BookId book, List<NewAccount> accounts) {
    requireNonNull(accounts, "accounts is null");
    transactor.runJoined(
        connection,
        c -> {
          LedgerQueries.openBook(c, book);
          LedgerQueries.openAccounts(c, book, accounts, true);
        });
  }

  /**
   * Changes an account's floor: 0, a credit line as a negative number, or none.
   *
   * @return false if there is no such account, or its balance less pending is already below that
   *     floor
   */
  public boolean setFloor(BookId book, AccountId account, OptionalLong floor) {
    if (floor.isPresent() && floor.getAsLong() > 0) {
      throw new IllegalArgumentException("A floor must be 0 or less, not " + floor.getAsLong());
    }
    return transactor.call(connection -> LedgerQueries.setFloor(connection, book, account, floor));
  }

  public Optional<Account> account(BookId book, AccountId account) {
    return transactor.call(connection -> LedgerQueries.account(connection, book, account));
  }

  /** As {@link #account(BookId, AccountId)}, on the caller's connection. */
  public Optional<Account> account(Connection connection, BookId book, AccountId account) {
    return transactor.join(connection, c -> LedgerQueries.account(c, book, account));
  }

  /** Accounts of a book, ascending, at most {@value #MAX_PAGE}. */
  public List<Account> accounts(BookId book, AccountId after, int limit) {
    requirePage(limit);
    return transactor.call(connection -> LedgerQueries.accounts(connection, book, after, limit));
  }

  /** Returns a transfer as last written: one that has just expired may still be PENDING. */
  public Optional<Transfer> transfer(BookId book, TransferId transfer) {
    return transactor.call(connection -> LedgerQueries.transfer(connection, book, transfer));
  }

  /** Entries of an account, oldest first, at most {@value #MAX_PAGE}. */
  public List<Entry> entries(BookId book, AccountId account, long afterVersion, int limit) {
    requirePage(limit);
    Versions range = new Versions(afterVersion, Long.MAX_VALUE);
    return transactor.call(
        connection -> LedgerQueries.entries(connection, book, account, range, limit));
  }

  /**
   * Returns the balance that an account had at a time; 0 before its first entry. The answer for a
   * past time is final: the call waits for commits under way, and up to 100 ms if the time is more
   * recent than that. A future time is answered as of now.
   *
   * @throws dev.lockstep.fault.LockTimeout if a commit under way takes too long
   */
  public long balanceAt(BookId book, AccountId account, Instant time) {
    requireNonNull(time, "time is null");
    return new AsOf(book, account, List.of(time))
        .read(
            transactor,
            connection ->
                LedgerQueries.entryAt(connection, book, account, time)
                    .map(Entry::balance)
                    .orElse(0L));
  }

  /**
   * Returns what happened to an account after {@code after}, up to and including {@code upTo}; as
   * final as {@link #balanceAt}.
   *
   * @param limit the most entries to return, up to {@value #MAX_PAGE}
   */
  public Statement statement(
      BookId book, AccountId account, Instant after, Instant upTo, int limit) {
    requirePage(limit);
    requireNonNull(upTo, "upTo is null");
    if (upTo.isBefore(requireNonNull(after, "after is null"))) {
      throw new IllegalArgumentException("A statement must not end before it begins");
    }
    return new AsOf(book, account, List.of(after, upTo))
        .read(
            transactor,
            connection -> LedgerQueries.statement(connection, book, account, after, upTo, limit));
  }

  /** Adds up what a book's accounts have and owe, by currency. */
  public List<TrialBalance> trialBalance(BookId book) {
    return transactor.call(connection -> LedgerQueries.trialBalance(connection, book));
  }

  /**
   * Checks accounts, entries and transfers against each other, as far as they changed since the
   * last check without a finding. A large book takes several snapshots. Locks no account; several
   * nodes may check at once. Pauses after each slice for as long as the slice took, so that it uses
   * at most half a core.
   */
  public LedgerReport checkChanged() {
    return LedgerCheck.check(transactor, false, soFar -> {});
  }

  /** As {@link #checkChanged}, but checks everything, from each account's first entry. */
  public LedgerReport checkAll() {
    return checkAll(soFar -> {});
  }

  /** As {@link #checkAll()}, and reports progress after each slice. */
  public LedgerReport checkAll(Consumer<LedgerReport> progress) {
    return LedgerCheck.check(transactor, true, progress);
  }

  /** The number of commands that wait for a decision, over all books. */
  public int waiting() {
    return door.waiting();
  }

  /**
   * Ends expired transfers, book by book in batches. A book that cannot be swept (because of a
   * lock, for example) does not stop the others.
   *
   * @return how many transfers this call ended
   * @throws dev.lockstep.fault.LockstepException if a book could not be swept; thrown after all
   *     others were
   */
  public int sweep() {
    return door.sweep(transactor.call(LedgerQueries::booksWithExpired));
  }

  /** Starts a thread that calls {@link #sweep()} at this interval until closed. */
  public AutoCloseable startSweeper(Duration interval) {
    return new Sweeper("ledger-sweeper", interval, this::sweep);
  }

  @Override
  public void close() {
    door.close();
  }

  private static void requirePage(int limit) {
    if (limit < 1 || limit > MAX_PAGE) {
      throw new IllegalArgumentException("limit must be 1 to " + MAX_PAGE + ", is " + limit);
    }
  }
}
