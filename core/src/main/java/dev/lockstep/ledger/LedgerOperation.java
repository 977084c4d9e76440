package dev.lockstep.ledger;

import dev.lockstep.combine.Combined;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOperation.Decided;
import dev.lockstep.ledger.LedgerOperation.Seen;
import dev.lockstep.ledger.LedgerOutcome.AllDone;
import dev.lockstep.ledger.LedgerOutcome.Done;
import dev.lockstep.tx.Exchange;
import dev.lockstep.tx.OutcomeUnknown;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlArray;
import dev.lockstep.tx.SqlFault;
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

/**
 * Commands on a book as one combined write: {@link StateReader}, {@link Decision}, {@link
 * PlanWriter}; without the reading where {@link BookMemory} makes up for it; and a {@link LoneMove}
 * where there is nothing else.
 */
final class LedgerOperation implements Combined<BookId, Ask, Seen, Decided, Reply> {
  private static final String ENTERED =
      """
      SELECT count(*) FROM unnest(?, ?, ?) AS x (account, version, transfer)
      JOIN lockstep.entry e ON e.book = ? AND e.account = x.account AND e.version = x.version
        AND e.transfer = x.transfer AND e.at = ?""";

  private static final int MAX_REMEMBERED_BOOKS = 1_000;

  private final LedgerConfig config;
  private final Map<BookId, BookMemory> memories = new ConcurrentHashMap<>();

  LedgerOperation(LedgerConfig config) {
    this.config = config;
  }

  /** How a batch knows what it is decided on. */
  enum How {
    LOCKED,
    REMEMBERED,
    PRESUMED
  }

  /**
   * What a batch is decided on.
   *
   * @param nanos when it was known, by the clock of this process
   */
  record Seen(LedgerState state, How how, long nanos) {}

  /** A plan together with the asks it answers. */
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
            : Decision.decide(state, commandsOf(asks));
    int unclaimed = state.expired().size();
    Iterator<LedgerOutcome> answers = plan.answers().iterator();
    List<Reply> replies = new ArrayList<>(asks.size());
    for (Ask ask : asks) {
      if (ask.command() == null) {
        replies.add(new Reply(null, unclaimed));
        unclaimed = 0;
      } else {
        replies.add(new Reply(answers.next(), 0));
      }
    }
    return new Decided(plan, seen, asks, replies);
  }

  @Override
  public void write(Exchange exchange, BookId book, Decided decided) throws SQLException {
    Plan plan = decided.plan();
    switch (decided.seen().how()) {
      case PRESUMED ->
          LoneMove.write(
              exchange, plan.newTransfers().get(0), config.combiner().transaction().lockTimeout());
      case REMEMBERED -> {
        if (!isDone(plan)) {
          throw SqlFault.conflict("Book %d must be read to refuse".formatted(book.value()));
        }
        new PlanWriter(book, plan).writeUnread(exchange);
      }
      case LOCKED -> {
        // What is lost of a larger batch fails once it finds the accounts changed. A lone transfer
        // may find that they have enough again.
        if (exchange.followsLost() && decided.asks().size() == 1 && !isDone(plan)) {
          throw new OutcomeUnknown(
              "Lost with its connection, and refused now: it may still come about", null);
        }
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

  private static boolean isDone(Plan plan) {
    return plan.answers().stream()
        .allMatch(outcome -> outcome instanceof Done || outcome instanceof AllDone);
  }

  private BookMemory memory(BookId book) {
    if (memories.size() > MAX_REMEMBERED_BOOKS) {
      memories.clear();
    }
    return memories.computeIfAbsent(book, b -> new BookMemory());
  }

  @Override
  public List<Reply> answers(Decided decided) {
    return decided.replies();
  }

  /**
   * Looks for every entry of the plan: a twin at another node may have made some of our transfers,
   * perhaps as the same versions. Answers that changed nothing stand whether or not their empty
   * transaction committed; but if a companion wrote for them, nobody can tell from here.
   */
  @Override
  public boolean happened(Connection connection, BookId book, Decided decided) throws SQLException {
    if (decided.seen().how() == How.PRESUMED) {
      return LoneMove.happened(connection, decided.plan().newTransfers().get(0));
    }
    List<Entry> entries = decided.plan().entries();
    if (entries.isEmpty()) {
      return decided.asks().stream().allMatch(ask -> ask.attachment() == null);
    }
    RoundTrip trip = new RoundTrip(connection);
    Rows<Long> found =
        trip.query(
            ENTERED,
            row -> row.getLong(1),
            SqlArray.bigints(entries.stream().map(entry -> entry.account().value()).toList()),
            SqlArray.bigints(entries.stream().map(Entry::version).toList()),
            SqlArray.uuids(entries.stream().map(entry -> entry.transfer().value()).toList()),
            book.value(),
            decided.plan().now().atOffset(ZoneOffset.UTC));
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
