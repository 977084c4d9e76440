package dev.lockstep.ledger;

import dev.lockstep.combine.CommandOperation;
import dev.lockstep.combine.DecidedBatch;
import dev.lockstep.combine.QueuedCommand;
import dev.lockstep.combine.Trace;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOperation.BatchInput;
import dev.lockstep.ledger.LedgerOutcome.AllDone;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.ledger.LedgerOutcome.TransferIdReused;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Implements commands on a book as one combined write: {@link StateReader}, {@link Decision},
 * {@link PlanWriter}. Skips the read when {@link BookCache} suffices. A batch of a single move
 * becomes a {@link SingleTransfer}.
 */
final class LedgerOperation
    extends CommandOperation<BookId, LedgerCommand<?>, LedgerOutcome, BatchInput, Plan> {
  private static final String ENTERED =
      """
      SELECT count(*) FROM unnest(?, ?, ?) AS x (account, version, transfer)
      JOIN lockstep.entry e ON e.book = ? AND e.account = x.account AND e.version = x.version
        AND e.transfer = x.transfer AND e.at = ?\
      """;

  private static final int MAX_CACHED_BOOKS = 1_000;

  private final LedgerConfig config;
  private final Map<BookId, BookCache> caches = new ConcurrentHashMap<>();

  LedgerOperation(LedgerConfig config) {
    this.config = config;
  }

  /** Where the state of a batch comes from. */
  enum Source {
    LOCKED,
    CACHED,
    PRESUMED
  }

  /**
   * The state that a batch is decided on.
   *
   * @param nanos when it was known, by this process's clock
   */
  record BatchInput(LedgerState state, Source source, long nanos) {}

  @Override
  protected BookId keyOf(LedgerCommand<?> command) {
    return command.book();
  }

  @Override
  protected void requireWithinLimits(LedgerCommand<?> command) {
    config.requireWithinLimits(command);
  }

  @Override
  protected LedgerOutcome overloaded(Duration retryAfter) {
    return new LedgerOutcome.LedgerOverloaded(retryAfter);
  }

  @Override
  protected String expiringOf(BookId book) {
    return "transfers of book " + book.value();
  }

  @Override
  public BatchInput lock(
      Exchange exchange, BookId book, List<QueuedCommand<LedgerCommand<?>, LedgerOutcome>> batch)
      throws SQLException {
    List<LedgerCommand<?>> commands = commandsOf(batch);
    long nanos = System.nanoTime();
    Optional<BatchInput> unread =
        batch.stream().allMatch(LedgerOperation::mayGoUnread)
            ? withoutReading(cache(book), commands, nanos)
            : Optional.empty();
    if (unread.isPresent()) {
      return unread.get();
    }
    boolean sweeps = commands.size() < batch.size();
    LedgerState state = new StateReader(book, commands, config.sweepBatch(), sweeps).read(exchange);
    return new BatchInput(state, Source.LOCKED, System.nanoTime());
  }

  private static boolean mayGoUnread(QueuedCommand<?, ?> queued) {
    return queued.command() != null && queued.attachment() == null && !queued.joined();
  }

  private static Optional<BatchInput> withoutReading(
      BookCache cache, List<LedgerCommand<?>> commands, long nanos) {
    if (commands.size() == 1 && commands.get(0) instanceof Move move) {
      Optional<Instant> now = cache.presume(move, nanos);
      return now.map(at -> new BatchInput(LedgerState.unseen(at), Source.PRESUMED, nanos));
    }
    return cache.recall(commands, nanos).map(state -> new BatchInput(state, Source.CACHED, nanos));
  }

  @Override
  public DecidedBatch<LedgerCommand<?>, LedgerOutcome, BatchInput, Plan> decide(
      BookId book, BatchInput input, List<QueuedCommand<LedgerCommand<?>, LedgerOutcome>> batch) {
    LedgerState state = input.state();
    Plan plan =
        input.source() == Source.PRESUMED
            ? SingleTransfer.presume((Move) commandsOf(batch).get(0), state.now())
            : Decision.decide(state, commandsOf(batch), inOrder(batch));
    int swept = state.expired().size();
    // A sweep goes on until a batch finds nothing.
    return decided(input, plan, batch, plan.decisions(), swept, swept > 0);
  }

  @Override
  protected void writePlan(
      Exchange exchange,
      BookId book,
      DecidedBatch<LedgerCommand<?>, LedgerOutcome, BatchInput, Plan> batch)
      throws SQLException {
    Plan plan = batch.plan();
    switch (batch.input().source()) {
      case PRESUMED ->
          SingleTransfer.write(
              exchange, plan.newTransfers().get(0), config.combiner().transaction());
      case CACHED -> {
        if (!plan.decisions().stream().allMatch(decision -> isDone(decision.outcome()))) {
          throw SqlFault.conflict(
              "Book %d: a refusal must be decided on locked rows; run again"
                  .formatted(book.value()));
        }
        new PlanWriter(book, plan).writeUnread(exchange);
      }
      case LOCKED -> new PlanWriter(book, plan).write(exchange);
    }
  }

  @Override
  public void committed(
      BookId book, DecidedBatch<LedgerCommand<?>, LedgerOutcome, BatchInput, Plan> batch) {
    BatchInput input = batch.input();
    BookCache cache = cache(book);
    switch (input.source()) {
      case PRESUMED -> cache.confirm(batch.plan().newTransfers().get(0));
      case CACHED -> cache.confirm(batch.plan());
      case LOCKED -> cache.learn(input.state(), input.nanos(), batch.plan());
    }
  }

  private static boolean isDone(LedgerOutcome outcome) {
    return outcome instanceof TransferDone || outcome instanceof AllDone;
  }

  private BookCache cache(BookId book) {
    if (caches.size() > MAX_CACHED_BOOKS) {
      caches.clear();
    }
    return caches.computeIfAbsent(book, b -> new BookCache());
  }

  @Override
  protected boolean stands(LedgerOutcome outcome) {
    return isDone(outcome) || outcome instanceof TransferIdReused;
  }

  /**
   * All entries of the plan: the same command on another node may have made some of our transfers,
   * perhaps under the same versions. If there are no entries but a companion writes for refusals,
   * no row identifies this batch.
   */
  @Override
  public Trace trace(
      BookId book, DecidedBatch<LedgerCommand<?>, LedgerOutcome, BatchInput, Plan> batch) {
    Plan plan = batch.plan();
    if (batch.input().source() == Source.PRESUMED) {
      Transfer moved = plan.newTransfers().get(0);
      return new Trace.OwnRows(connection -> SingleTransfer.happened(connection, moved));
    }
    if (!plan.entries().isEmpty()) {
      return new Trace.OwnRows(connection -> entered(connection, book, plan));
    }
    return batch.accompanied() ? new Trace.Mark(book.value(), plan.now()) : new Trace.Nothing();
  }

  private static boolean entered(Connection connection, BookId book, Plan plan)
      throws SQLException {
    List<Entry> entries = plan.entries();
    RoundTrip trip = new RoundTrip(connection);
    Rows<Long> found =
        trip.query(
            ENTERED,
            row -> row.getLong(1),
            SqlArray.bigints(entries.stream().map(entry -> entry.account().value()).toList()),
            SqlArray.bigints(entries.stream().map(Entry::version).toList()),
            SqlArray.uuids(entries.stream().map(entry -> entry.transfer().value()).toList()),
            book.value(),
            plan.now().atOffset(ZoneOffset.UTC));
    trip.send();
    return found.list().get(0) == entries.size();
  }
}
