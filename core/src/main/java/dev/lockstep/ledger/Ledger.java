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
import dev.lockstep.tx.Exchange;
import dev.lockstep.tx.PointLookups;
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
 * <p><b>Promises.</b> Money is conserved: each transfer is two entries that add up to nothing, and
 * so do the balances of a currency at every instant. No account falls below its floor. Transfers in
 * opposite directions do not deadlock: accounts are locked in the order of their ids. A pending
 * transfer ends once: posted, voided or expired. Linked commands happen all or none. The same
 * {@link TransferId} again has no further effect. Every change of an account is an entry, which is
 * never altered.
 *
 * <p><b>Two doors.</b> {@link #submit} queues a command and combines it with those of other
 * callers; Lockstep commits. {@link #run} and {@link #runAll} decide commands on the caller's
 * connection, in the caller's transaction; the caller commits, and until then the accounts stay
 * locked. Who moves money several times in one transaction hands all of it to one {@link #runAll},
 * which locks every account in order.
 *
 * <p>Thread-safe. {@link #close} lets what is queued finish, in bounded time.
 */
public final class Ledger implements AutoCloseable {
  public static final int MAX_PAGE = 10_000;

  /** Rounds of one sweep of a book; what is left is for the next sweep. */
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
   * outcome ({@link LedgerOutcome.Overloaded} at once when the queue is full), or exceptionally
   * with a {@link dev.lockstep.tx.LockstepException} for a fault.
   *
   * @throws IllegalArgumentException for a time beyond the configured maximum
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
   * As {@link #submit(LedgerCommand)}, and waits for the answer. A caller that waits anyway and
   * meets nobody runs the transaction itself, which spares it the wait for another thread to wake
   * up.
   *
   * @throws dev.lockstep.tx.LockstepException for a fault
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
   * @throws dev.lockstep.tx.SerializationConflict when another transaction was faster: roll back
   *     and begin again, as {@link Transactor#call} does by itself
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <R extends LedgerOutcome> R run(Connection connection, LedgerCommand<R> command) {
    return (R) runAll(connection, List.of(command)).get(0);
  }

  /**
   * Decides commands on the caller's connection, book by book in ascending order; within a book in
   * the order given. One outcome a command, in the order given. The caller commits.
   *
   * @throws dev.lockstep.tx.SerializationConflict as {@link #run}
   */
  public List<LedgerOutcome> runAll(
      Connection connection, List<? extends LedgerCommand<?>> commands) {
    TxWork<List<LedgerOutcome>> work = c -> runBooks(Exchange.within(c), commands);
    return transactor.plansPointLookups()
        ? transactor.on(connection, work)
        : transactor.on(connection, own -> PointLookups.during(own, work));
  }

  /**
   * As {@link #runAll(Connection, List)}, in a companion of another block's batch: what is written
   * goes together with its COMMIT.
   */
  public List<LedgerOutcome> runAll(Exchange exchange, List<? extends LedgerCommand<?>> commands)
      throws SQLException {
    // So it is in a batch of Lockstep's own; else it takes crossings to make it so for a while.
    return transactor.plansPointLookups()
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

  /** Opens a book, unless it is open. */
  public void openBook(BookId book) {
    transactor.run(connection -> openBook(connection, book));
  }

  /** As {@link #openBook(BookId)}, on the caller's connection. */
  public void openBook(Connection connection, BookId book) {
    transactor.runOn(connection, c -> LedgerQueries.openBook(c, book));
  }

  /**
   * Opens accounts in a book, all or none.
   *
   * @throws dev.lockstep.tx.ConstraintViolated if one exists
   * @throws IllegalArgumentException if the book does not
   */
  public void openAccounts(BookId book, List<NewAccount> accounts) {
    transactor.run(connection -> openAccounts(connection, book, accounts));
  }

  /** As {@link #openAccounts(BookId, List)}, on the caller's connection. */
  public void openAccounts(Connection connection, BookId book, List<NewAccount> accounts) {
    int opened =
        transactor.on(connection, c -> LedgerQueries.openAccounts(c, book, accounts, false));
    if (opened != accounts.size()) {
      throw new IllegalArgumentException("There is no book " + book.value());
    }
  }

  /** Opens the book and those of the accounts that are not there yet. The caller commits. */
  public void ensureAccounts(Connection connection, BookId book, List<NewAccount> accounts) {
    transactor.runOn(
        connection,
        c -> {
          LedgerQueries.openBook(c, book);
          LedgerQueries.openAccounts(c, book, accounts, true);
        });
  }

  /**
   * Changes an account's floor: 0, a credit line as a negative number, or none.
   *
   * @return false if there is no such account, or it is below that floor already
   */
  public boolean setFloor(BookId book, AccountId account, OptionalLong floor) {
    if (floor.isPresent() && floor.getAsLong() > 0) {
      throw new IllegalArgumentException("A floor is 0 or less, not " + floor.getAsLong());
    }
    return transactor.call(connection -> LedgerQueries.setFloor(connection, book, account, floor));
  }

  public Optional<Account> account(BookId book, AccountId account) {
    return transactor.call(connection -> LedgerQueries.account(connection, book, account));
  }

  /** As {@link #account(BookId, AccountId)}, on the caller's connection. */
  public Optional<Account> account(Connection connection, BookId book, AccountId account) {
    return transactor.on(connection, c -> LedgerQueries.account(c, book, account));
  }

  /** Accounts of a book, ascending, at most {@value #MAX_PAGE}. */
  public List<Account> accounts(BookId book, AccountId after, int limit) {
    requirePage(limit);
    return transactor.call(connection -> LedgerQueries.accounts(connection, book, after, limit));
  }

  /** A transfer as it was last written: one that expired a moment ago may still say pending. */
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
   * The balance that an account had at a time; 0 before its first entry. Of a time that has passed
   * the answer is final: it waits for what is being committed, and up to a tenth of a second for a
   * time more recent than that. A time still to come is answered as of now.
   *
   * @throws dev.lockstep.tx.LockTimeout if what is being committed takes too long
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
   * What happened to an account after one time and not after another; as final as {@link
   * #balanceAt}.
   *
   * @param limit entries at most, up to {@value #MAX_PAGE}
   */
  public Statement statement(
      BookId book, AccountId account, Instant after, Instant upTo, int limit) {
    requirePage(limit);
    if (upTo.isBefore(after)) {
      throw new IllegalArgumentException("A statement ends after it has begun");
    }
    return new AsOf(book, account, List.of(after, upTo))
        .read(
            transactor,
            connection -> LedgerQueries.statement(connection, book, account, after, upTo, limit));
  }

  /** What a book's accounts have and owe, by currency. */
  public List<TrialBalance> trialBalance(BookId book) {
    return transactor.call(connection -> LedgerQueries.trialBalance(connection, book));
  }

  /**
   * Compares accounts, entries and transfers with each other, as far as they have changed since the
   * last check that found nothing wrong, a large book in several snapshots. Locks nothing; several
   * nodes may check at once. It rests as long as it looks, so that others have most of the
   * processor.
   */
  public LedgerReport checkChanged() {
    return LedgerCheck.check(transactor, false, soFar -> {});
  }

  /** Compares everything, from each account's first entry. */
  public LedgerReport checkAll() {
    return checkAll(soFar -> {});
  }

  /** The same, and tells after each slice what it has looked at and found so far. */
  public LedgerReport checkAll(Consumer<LedgerReport> progress) {
    return LedgerCheck.check(transactor, true, progress);
  }

  /** Commands waiting to be decided now, over all books. */
  public int waiting() {
    return combiner.waiting();
  }

  /**
   * Ends what has expired, book by book in batches. A book that cannot be swept (a lock, say) keeps
   * no other from its turn.
   *
   * @return how many transfers ended here
   * @throws dev.lockstep.tx.LockstepException if a book could not be swept, after all others were
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

  /** Calls {@link #sweep()} again and again on a thread of its own, until closed. */
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
      throw new IllegalArgumentException("A page has 1 to " + MAX_PAGE + " items");
    }
  }

  private <C extends LedgerCommand<?>> C requireWithinLimits(C command) {
    if (command instanceof Linked linked) {
      linked.steps().forEach(this::requireWithinLimits);
    } else if (command instanceof Reserve reserve
        && reserve.holdFor().compareTo(config.maxPendingFor()) > 0) {
      throw new IllegalArgumentException(
          "A transfer can be pending for %s at most, not %s"
              .formatted(config.maxPendingFor(), reserve.holdFor()));
    }
    return command;
  }
}
