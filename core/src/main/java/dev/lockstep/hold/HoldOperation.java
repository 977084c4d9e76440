package dev.lockstep.hold;

import dev.lockstep.combine.Combined;
import dev.lockstep.combine.Trace;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldOperation.Decided;
import dev.lockstep.hold.HoldOperation.Seen;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldIdReused;
import dev.lockstep.hold.Plan.Answer;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.Exchange;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Implements commands on a scope's stock as one combined write: {@link StateReader} or {@link
 * AcquireReader}, {@link Decision}, {@link PlanWriter}. Skips the read when {@link ScopeMemory}
 * suffices.
 */
final class HoldOperation implements Combined<ScopeId, Ask, Seen, Decided, Reply> {
  private static final String AUDITED =
      """
      SELECT 1 FROM lockstep.stock_audit
      WHERE scope = ? AND pool = ? AND seq = ? AND hold = ? AND cause = ? AND actor = ? AND at = ?""";

  private static final int MAX_REMEMBERED_POOLS = 100_000;
  private static final int MAX_REMEMBERED_SCOPES = 1_000;

  private final HoldsConfig config;
  // Pools known to have no units, which never changes: their batches skip the unit query.
  private final Set<CountedPool> counted = ConcurrentHashMap.newKeySet();

  private final Map<ScopeId, ScopeMemory> memories = new ConcurrentHashMap<>();

  private record CountedPool(ScopeId scope, PoolId pool) {}

  HoldOperation(HoldsConfig config) {
    this.config = config;
  }

  /**
   * The state that a batch is decided on.
   *
   * @param locked read and locked, not just remembered
   * @param vetoes what its companions refuse
   * @param nanos when it was known, by this process's clock; a clock carried on from there never
   *     runs ahead of the database's
   */
  record Seen(ScopeState state, Vetoes vetoes, boolean locked, long nanos) {
    Seen with(Vetoes found) {
      return new Seen(state, found, locked, nanos);
    }
  }

  /** A plan and the asks it answers. */
  record Decided(Plan plan, Seen seen, List<Ask> asks, List<Reply> replies) {}

  @Override
  public Seen lock(Exchange exchange, ScopeId scope, List<Ask> asks) throws SQLException {
    List<Acquire> acquires = acquiresOf(asks);
    boolean acquiresOnly = acquires.size() == asks.size();
    long nanos = System.nanoTime();
    if (acquiresOnly && asks.stream().allMatch(ask -> ask.attachment() == null)) {
      Optional<ScopeState> remembered = memory(scope).recall(acquires, nanos);
      if (remembered.isPresent()) {
        return new Seen(remembered.get(), Vetoes.NONE, false, nanos);
      }
    }
    ScopeState state = lock(exchange, scope, asks, acquiresOnly ? acquires : null);
    return new Seen(state, Vetoes.NONE, true, System.nanoTime());
  }

  @Override
  public Seen consult(Exchange exchange, ScopeId scope, Seen seen, List<Ask> asks)
      throws SQLException {
    return seen.with(Vetoes.of(exchange, scope, asks));
  }

  private ScopeState lock(
      Exchange exchange, ScopeId scope, List<Ask> asks, @Nullable List<Acquire> acquires)
      throws SQLException {
    ScopeState state = read(exchange, scope, asks, acquires);
    // Remembered from a transaction that created the pool without units and then rolled back.
    boolean mistaken =
        state.pools().entrySet().stream()
            .filter(pool -> pool.getValue().hasUnits())
            .map(pool -> counted.remove(new CountedPool(scope, pool.getKey())))
            .reduce(false, Boolean::logicalOr);
    if (mistaken) {
      state = read(exchange, scope, asks, acquires);
    }
    if (counted.size() > MAX_REMEMBERED_POOLS) {
      counted.clear();
    }
    state
        .pools()
        .forEach(
            (pool, row) -> {
              if (!row.hasUnits()) {
                counted.add(new CountedPool(scope, pool));
              }
            });
    return state;
  }

  /**
   * @param acquires the asks if all of them are acquires; otherwise null
   */
  private ScopeState read(
      Exchange exchange, ScopeId scope, List<Ask> asks, @Nullable List<Acquire> acquires)
      throws SQLException {
    Predicate<PoolId> isCounted = pool -> counted.contains(new CountedPool(scope, pool));
    return acquires == null
        ? new StateReader(scope, commandsOf(asks), config.sweepBatch(), isCounted).read(exchange)
        : new AcquireReader(scope, acquires, isCounted).read(exchange);
  }

  @Override
  public Decided decide(ScopeId scope, Seen seen, List<Ask> asks) {
    ScopeState state = seen.state();
    Vetoes vetoes = seen.vetoes();
    List<HoldCommand<?>> commands = new ArrayList<>(asks.size());
    BitSet vetoed = new BitSet();
    for (int i = 0; i < asks.size(); i++) {
      HoldCommand<?> command = asks.get(i).command();
      if (command != null && !vetoes.putOff().get(i)) {
        vetoed.set(commands.size(), vetoes.refused().get(i));
        commands.add(command);
      }
    }
    Plan plan =
        Decision.decide(
            state, commands, vetoed, config.maxLifetime(), asks.stream().noneMatch(Ask::queued));
    int swept = state.expired().size();
    int unclaimed = swept;
    Iterator<Answer> answers = plan.answers().iterator();
    List<Reply> replies = new ArrayList<>(asks.size());
    for (int i = 0; i < asks.size(); i++) {
      if (vetoes.putOff().get(i)) {
        replies.add(Reply.putOff(swept));
      } else if (asks.get(i).command() == null) {
        // If a batch has several sweeps, only the first counts what the batch took back.
        replies.add(Reply.swept(unclaimed, state.moreExpired()));
        unclaimed = 0;
      } else {
        replies.add(answers.hasNext() ? Reply.to(answers.next(), swept) : Reply.undecided(swept));
      }
    }
    return new Decided(plan, seen, asks, replies);
  }

  @Override
  public void write(Exchange exchange, ScopeId scope, Decided decided) throws SQLException {
    PlanWriter writer = new PlanWriter(scope, decided.plan());
    if (decided.seen().locked()) {
      writer.write(exchange);
      new Companions(decided).write(exchange);
    } else if (decided.replies().stream().allMatch(reply -> reply.outcome() instanceof Granted)) {
      writer.writeUnread(exchange);
    } else {
      throw SqlFault.conflict(
          "Scope %d: a refusal must be decided on locked rows; run again".formatted(scope.value()));
    }
  }

  @Override
  public void committed(ScopeId scope, Decided decided) {
    Seen seen = decided.seen();
    if (seen.locked()) {
      memory(scope).learn(seen.state(), seen.nanos(), decided.plan());
    } else {
      memory(scope).confirm(decided.plan());
    }
  }

  private ScopeMemory memory(ScopeId scope) {
    if (memories.size() > MAX_REMEMBERED_SCOPES) {
      memories.clear();
    }
    return memories.computeIfAbsent(scope, s -> new ScopeMemory());
  }

  private static List<Acquire> acquiresOf(List<Ask> asks) {
    List<Acquire> acquires = new ArrayList<>(asks.size());
    for (Ask ask : asks) {
      if (!ask.thorough() && ask.command() instanceof Acquire acquire) {
        acquires.add(acquire);
      }
    }
    return acquires;
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
   * was found written, or the id belongs to another hold. The lost attempt would have to insert the
   * same hold, and fails. Every other outcome, also none at all (a provisional refusal), rests on
   * state that may change before the lost attempt arrives.
   */
  private static boolean stands(@Nullable HoldOutcome outcome) {
    return outcome instanceof Granted
        || outcome instanceof Ended
        || outcome instanceof HoldIdReused;
  }

  /**
   * The plan's last audit row. Another node may have used the same number for another end of the
   * same hold, so the whole row must match, including its time. A batch that only extends, or only
   * refuses while a companion writes, leaves no row that identifies it.
   */
  @Override
  public Trace trace(ScopeId scope, Decided decided) {
    Plan plan = decided.plan();
    if (!plan.audit().isEmpty()) {
      StockChange last = plan.audit().get(plan.audit().size() - 1);
      return new Trace.Rows(connection -> audited(connection, scope, last));
    }
    boolean writes =
        !plan.changedHolds().isEmpty()
            || decided.asks().stream().anyMatch(ask -> ask.attachment() != null);
    return writes ? new Trace.Mark(scope.value(), plan.now()) : new Trace.Nothing();
  }

  private static boolean audited(Connection connection, ScopeId scope, StockChange last)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(AUDITED)) {
      statement.setLong(1, scope.value());
      statement.setLong(2, last.pool().value());
      statement.setLong(3, last.seq());
      statement.setObject(4, last.hold().value());
      statement.setInt(5, last.cause().code());
      statement.setString(6, last.actor());
      statement.setObject(7, last.at().atOffset(ZoneOffset.UTC));
      try (ResultSet row = statement.executeQuery()) {
        return row.next();
      }
    }
  }

  private static List<HoldCommand<?>> commandsOf(List<Ask> asks) {
    List<HoldCommand<?>> commands = new ArrayList<>(asks.size());
    for (Ask ask : asks) {
      if (ask.command() != null) {
        commands.add(ask.command());
      }
    }
    return commands;
  }
}
