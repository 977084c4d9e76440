package dev.lockstep.ledger;

import dev.lockstep.combine.Combined;
import dev.lockstep.combine.Trace;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOperation.Decided;
import dev.lockstep.ledger.LedgerOperation.Seen;
import dev.lockstep.ledger.LedgerOutcome.AllDone;
import dev.lockstep.ledger.LedgerOutcome.Done;
import dev.lockstep.ledger.LedgerOutcome.TransferIdReused;
import dev.lockstep.ledger.Plan.Answer;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Implements commands on a book as one combined write: {@link StateReader}, {@link Decision},
 * {@link PlanWriter}. Skips the read when {@link BookMemory} suffices. A batch of a single move
 * becomes a {@link LoneMove}.
 */
final class LedgerOperation implements Combined<BookId, Ask, Seen, Decided, Reply> {
  private static final String ENTERED =
      """
      SELECT count(*) FROM unnest(?, ?, ?) AS x (account, version, transfer)
      JOIN lockstep.entry e ON e.book = ? AND e.account = x.account AND e.version = x.version
        AND e.transfer = x.transfer AND e.at = ?\
      """;

  private static final int MAX_REMEMBERED_BOOKS = 1_000;

  private final LedgerConfig config;
  private final Map<BookId, BookMemory> memories = new ConcurrentHashMap<>();

  LedgerOperation(LedgerConfig config) {
    this.config = config;
  }

  /** Where the state comes from that a batch is decided on. */
  enum How {
    LOCKED,
    REMEMBERED,
    PRESUMED
  }

  /**
   * The state that a batch is decided on.
   *
   * @param nanos when it was known, by this process's clock
   */
  record Seen(LedgerState state, How how, long nanos) {}

  /** A plan and the asks it answers. */
  record Decided(Plan plan, Seen seen, List<Ask> asks, List<Reply> replies) {}

  @Override
  public Seen lock(Exchange exchange, BookId book, List<Ask> asks) throws SQLException {
    List<LedgerCommand<?>> commands = commandsOf(asks);
    long nanos = System.nanoTime();
    Optional<Seen> unread =
        asks.stream().allMatch(Ask::isPlain)
            ? withoutReading(memory(book), commands, nanos)
            : Optional.empty();
    if (unread.isPresent()) {
      return unread.get();
    }
    boolean sweeps = commands.size() < asks.size();
    LedgerState state = new StateReader(book, commands, config.sweepBatch(), sweeps).read(exchange);
    return new Seen(state, How.LOCKED, System.nanoTime());
  }

  private static Optional<Seen> withoutReading(
      BookMemory memory, List<LedgerCommand<?>> commands, long nanos) {
    if (commands.size() == 1 && commands.get(0) instanceof Move move) {
      Optional<Instant> now = memory.presume(move, nanos);
      return now.map(at -> new Seen(LedgerState.unseen(at), How.PRESUMED, nanos));
    }
    return memory.recall(commands, nanos).map(state -> new Seen(state, How.REMEMBERED, nanos));
  }

  @Override
  public Decided decide(BookId book, Seen seen, List<Ask> asks) {
    LedgerState state = seen.state();
    Plan plan =
        seen.how() == How.PRESUMED
            ? LoneMove.presume((Move) commandsOf(asks).get(0), state.now())
            : Decision.decide(state, commandsOf(asks), asks.stream().noneMatch(Ask::queued));
    int swept = state.expired().size();
    int unclaimed = swept;
    Iterator<Answer> answers = plan.answers().iterator();
    List<Reply> replies = new ArrayList<>(asks.size());
    for (Ask ask : asks) {
      if (ask.command() == null) {
        replies.add(Reply.swept(unclaimed));
        unclaimed = 0;
      } else {
        replies.add(answers.hasNext() ? Reply.to(answers.next(), swept) : Reply.undecided(swept));
      }
    }
    return new Decided(plan, seen, asks, replies);
  }

  @Override
  public void write(Exchange exchange, BookId book, Decided decided) throws SQLException {
    Plan plan = decided.plan();
    switch (decided.seen().how()) {
      case PRESUMED ->
          LoneMove.write(exchange, plan.newTransfers().get(0), config.combiner().transaction());
      case REMEMBERED -> {
        if (!plan.answers().stream().allMatch(answer -> isDone(answer.outcome()))) {
          throw SqlFault.conflict(
              "Book %d: a refusal must be decided on locked rows; run again"
                  .formatted(book.value()));
        }
        new PlanWriter(book, plan).writeUnread(exchange);
      }
      case LOCKED -> {
        new PlanWriter(book, plan).write(exchange);
        new Companions(decided).write(exchange);
      }
    }
  }

  @Override
  public void committed(BookId book, Decided decided) {
    Seen seen = decided.seen();
    BookMemory memory = memory(book);
    switch (seen.how()) {
      case PRESUMED -> memory.confirm(decided.plan().newTransfers().get(0));
      case REMEMBERED -> memory.confirm(decided.plan());
      case LOCKED -> memory.learn(seen.state(), seen.nanos(), decided.plan());
    }
  }

  private static boolean isDone(@Nullable LedgerOutcome outcome) {
    return outcome instanceof Done || outcome instanceof AllDone;
  }

  private BookMemory memory(BookId book) {
    if (memories.size() > MAX_REMEMBERED_BOOKS) {
      memories.clear();
    }
    return memories.computeIfAbsent(book, b -> new BookMemory());
  }

  @Override
  public List<AttemptResult<Reply>> answers(Decided decided) {
    List<AttemptResult<Reply>> verdicts = new ArrayList<>(decided.replies().size());
    for (Reply reply : decided.replies()) {
      verdicts.add(
          stands(reply.outcome())
              ? new AttemptResult.Final<>(reply)
              : new AttemptResult.Conditional<>(reply));
    }
    return verdicts;
  }

  /**
   * True if the outcome holds even if a lost attempt commits later: the effect was written here,
   * was found written, or the id belongs to another transfer. The lost attempt would have to insert
   * the same transfer, and fails. Every other outcome, also none at all (a provisional refusal),
   * rests on state that may change before the lost attempt arrives.
   */
  private static boolean stands(@Nullable LedgerOutcome outcome) {
    return isDone(outcome) || outcome instanceof TransferIdReused;
  }

  /**
   * All entries of the plan: the same command on another node may have made some of our transfers,
   * perhaps under the same versions. If there are no entries but a companion writes for refusals,
   * no row identifies this batch.
   */
  @Override
  public Trace trace(BookId book, Decided decided) {
    Plan plan = decided.plan();
    if (decided.seen().how() == How.PRESUMED) {
      Transfer moved = plan.newTransfers().get(0);
      return new Trace.Rows(connection -> LoneMove.happened(connection, moved));
    }
    if (!plan.entries().isEmpty()) {
      return new Trace.Rows(connection -> entered(connection, book, plan));
    }
    boolean accompanied = decided.asks().stream().anyMatch(ask -> ask.attachment() != null);
    return accompanied ? new Trace.Mark(book.value(), plan.now()) : new Trace.Nothing();
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

  private static List<LedgerCommand<?>> commandsOf(List<Ask> asks) {
    List<LedgerCommand<?>> commands = new ArrayList<>(asks.size());
    for (Ask ask : asks) {
      if (ask.command() != null) {
        commands.add(ask.command());
      }
    }
    return commands;
  }
}
