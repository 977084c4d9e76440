package dev.lockstep.ledger;

import dev.lockstep.combine.Asker;
import dev.lockstep.combine.Combiner;
import dev.lockstep.combine.Overloaded;
import dev.lockstep.combine.Rounds;
import dev.lockstep.combine.Sweeper;
import dev.lockstep.ledger.Ask.Attachment;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerQueries.Versions;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.IndexLookups;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

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
 * those of other callers; Lockstep commits. {@link #run} and {@link #runAll} decide commands on the
 * caller's connection, in the caller's transaction; the caller commits, and the accounts stay
 * locked until then. To move money several times in one transaction, pass all commands to one
 * {@link #runAll}, which locks every account in order.
 *
 * <p>Thread-safe. {@link #close} lets queued commands finish, in bounded time.
 */
public final class Ledger implements AutoCloseable {
  public static final int MAX_PAGE = 10_000;

  /** Rounds per book and sweep; the next sweep does the rest. */
  private static final int MAX_ROUNDS = 1_000;

  private final LedgerConfig config;
  private final Combiner<BookId, Ask, Reply> combiner;
  private final Asker<BookId, Ask, Reply> asker;
  private final Transactor transactor;
  private final Rounds<BookId> sweeps = new Rounds<>();

  public Ledger(Transactor transactor) {
    this(transactor, LedgerConfig.DEFAULT);
  }

  public Ledger(Transactor transactor, LedgerConfig config) {
    this.config = config;
    this.transactor = transactor;
    LedgerOperation operation = new LedgerOperation(config);
    this.combiner = Combiner.on(transactor, operation, config.combiner());
    this.asker =
        new Asker<>(
            combiner,
            operation,
            config.combiner().transaction(),
            UnaryOperator.identity(),
            book -> "transfers of book " + book.value());
  }

  /**
   * Queues a command. The stage completes after the transaction committed, with the command's
   * outcome, or exceptionally with a {@link dev.lockstep.fault.LockstepException}. If the queue is
   * full, it completes at once with {@link LedgerOutcome.Overloaded}. Callbacks may block, but
   * while 1,024 do, later stages of this object wait for a thread.
   *
   * @throws IllegalArgumentException if the command asks for more time than configured
   */
  public <R extends LedgerOutcome> CompletionStage<R> submit(LedgerCommand<R> command) {
    return submit(command, Ask.queued(requireWithinLimits(command), null));
  }

  /** As {@link #submit(LedgerCommand)}, with a companion that writes in the same transaction. */
  public <R extends LedgerOutcome, P> CompletionStage<R> submit(
      LedgerCommand<R> command, TransferCompanion<P> companion, P payload) {
    Attachment<P> attachment = new Attachment<>(companion, payload);
    return submit(command, Ask.queued(requireWithinLimits(command), attachment));
  }

  /**
   * As {@link #submit(LedgerCommand)}, and waits for the answer. If no other command is ahead, the
   * calling thread runs the transaction and saves the wait for another thread to wake up.
   *
   * @throws dev.lockstep.fault.LockstepException for a fault
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <R extends LedgerOutcome> R call(LedgerCommand<R> command) {
    requireWithinLimits(command);
    try {
      return (R)
          Objects.requireNonNull(asker.call(command.book(), Ask.queued(command, null)).outcome());
    } catch (Overloaded overloaded) {
      return (R) new LedgerOutcome.Overloaded(overloaded.retryAfter());
    }
  }

  /**
   * Decides a command on the caller's connection. The caller commits.
   *
   * @throws dev.lockstep.fault.SerializationConflict if another transaction was faster: roll back
   *     and start again, which {@link Transactor#call} does for you
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <R extends LedgerOutcome> R run(Connection connection, LedgerCommand<R> command) {
    return (R) runAll(connection, List.of(command)).get(0);
  }

  /**
   * Decides commands on the caller's connection. Books go in ascending order; within a book,
   * commands go in the given order. Returns one outcome per command, in the given order. The caller
   * commits.
   *
   * @throws dev.lockstep.fault.SerializationConflict as {@link #run}
   */
  public List<LedgerOutcome> runAll(
      Connection connection, List<? extends LedgerCommand<?>> commands) {
    TxWork<List<LedgerOutcome>> work = c -> runBooks(Exchange.within(c), commands);
    return transactor.plansIndexLookups()
        ? transactor.join(connection, work)
        : transactor.join(connection, own -> IndexLookups.during(own, work::run));
  }

  /**
   * As {@link #runAll(Connection, List)}, in a companion of another block's batch: the writes
   * travel with that batch's COMMIT.
   */
  public List<LedgerOutcome> runAll(Exchange exchange, List<? extends LedgerCommand<?>> commands)
      throws SQLException {
    // Lockstep's own batches already plan point lookups; elsewhere, switching takes extra round
    // trips.
    return transactor.plansIndexLookups()
        ? runBooks(exchange, commands)
        : runAll(exchange.connection(), commands);
  }

  private List<LedgerOutcome> runBooks(Exchange exchange, List<? extends LedgerCommand<?>> commands)
      throws SQLException {
    Map<Long, List<Integer>> byBook = new TreeMap<>();
    for (int i = 0; i < commands.size(); i++) {
      requireWithinLimits(commands.get(i));
      byBook.computeIfAbsent(commands.get(i).book().value(), book -> new ArrayList<>()).add(i);
    }
    List<@Nullable LedgerOutcome> outcomes =
        new ArrayList<>(Collections.nCopies(commands.size(), (LedgerOutcome) null));
    for (Map.Entry<Long, List<Integer>> book : byBook.entrySet()) {
      runBook(exchange, new BookId(book.getKey()), book.getValue(), commands, outcomes);
    }
    return outcomes.stream().map(Objects::requireNonNull).toList();
  }

  private void runBook(
      Exchange exchange,
      BookId book,
      List<Integer> indexes,
      List<? extends LedgerCommand<?>> commands,
      List<@Nullable LedgerOutcome> outcomes)
      throws SQLException {
    List<Ask> asks = new ArrayList<>(indexes.size());
    indexes.forEach(i -> asks.add(Ask.onConnection(commands.get(i))));
    List<Reply> replies = asker.apply(exchange, book, asks);
    for (int i = 0; i < replies.size(); i++) {
      outcomes.set(indexes.get(i), replies.get(i).outcome());
    }
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
    int opened =
        transactor.join(connection, c -> LedgerQueries.openAccounts(c, book, accounts, false));
    if (opened != accounts.size()) {
      throw new IllegalArgumentException("There is no book " + book.value() + "; open it first");
    }
  }

  /** Opens the book and the accounts that do not exist yet. The caller commits. */
  public void ensureAccounts(Connection connection, BookId book, List<NewAccount> accounts) {
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
    if (upTo.isBefore(after)) {
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
    return combiner.waiting();
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
    return sweeps.each(transactor.call(LedgerQueries::booksWithExpired), this::sweepBook);
  }

  private int sweepBook(BookId book) {
    int swept = 0;
    int ended;
    int round = 0;
    do {
      ended = combiner.call(book, Ask.SWEEP).swept();
      swept += ended;
    } while (ended > 0 && ++round < MAX_ROUNDS);
    return swept;
  }

  /** Starts a thread that calls {@link #sweep()} at this interval until closed. */
  public AutoCloseable startSweeper(Duration interval) {
    return new Sweeper("ledger-sweeper", interval, this::sweep);
  }

  @Override
  public void close() {
    combiner.close();
  }

  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  private <R extends LedgerOutcome> CompletionStage<R> submit(LedgerCommand<R> command, Ask ask) {
    CompletableFuture<R> answer = new CompletableFuture<>();
    asker.submit(
        command.book(),
        ask,
        (reply, thrown) -> {
          if (thrown instanceof Overloaded overloaded) {
            answer.complete((R) new LedgerOutcome.Overloaded(overloaded.retryAfter()));
          } else if (thrown != null) {
            answer.completeExceptionally(thrown);
          } else {
            answer.complete((R) Objects.requireNonNull(Objects.requireNonNull(reply).outcome()));
          }
        });
    return answer;
  }

  private static void requirePage(int limit) {
    if (limit < 1 || limit > MAX_PAGE) {
      throw new IllegalArgumentException("limit must be 1 to " + MAX_PAGE + ", is " + limit);
    }
  }

  private <C extends LedgerCommand<?>> C requireWithinLimits(C command) {
    if (command instanceof Linked linked) {
      linked.steps().forEach(this::requireWithinLimits);
    } else if (command instanceof Reserve reserve
        && reserve.holdFor().compareTo(config.maxPendingFor()) > 0) {
      throw new IllegalArgumentException(
          "A transfer may be pending for at most %s, not %s"
              .formatted(config.maxPendingFor(), reserve.holdFor()));
    }
    return command;
  }
}
