package dev.lockstep.hold;

import dev.lockstep.combine.CommandOperation;
import dev.lockstep.combine.DecidedBatch;
import dev.lockstep.combine.QueuedCommand;
import dev.lockstep.combine.Trace;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldOperation.BatchInput;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldIdReused;
import dev.lockstep.sql.Exchange;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Implements commands on a scope's stock as one combined write: {@link StateReader} or {@link
 * AcquireReader}, {@link Decision}, {@link PlanWriter}. Skips the read when {@link ScopeCache}
 * suffices.
 */
final class HoldOperation
    extends CommandOperation<ScopeId, HoldCommand<?>, HoldOutcome, BatchInput, Plan> {
  private static final String AUDITED =
      """
      SELECT 1 FROM lockstep.stock_audit
      WHERE scope = ? AND pool = ? AND seq = ? AND hold = ? AND cause = ? AND actor = ? AND at = ?""";

  private static final int MAX_CACHED_POOLS = 100_000;
  private static final int MAX_CACHED_SCOPES = 1_000;

  private final HoldsConfig config;
  // Pools known to have no units, which never changes: their batches skip the unit query.
  private final Set<CountedPool> counted = ConcurrentHashMap.newKeySet();

  private final Map<ScopeId, ScopeCache> caches = new ConcurrentHashMap<>();

  private record CountedPool(ScopeId scope, PoolId pool) {}

  HoldOperation(HoldsConfig config) {
    this.config = config;
  }

  /**
   * The state that a batch is decided on.
   *
   * @param locked read and locked, not just cached
   * @param vetoes what its companions refuse
   * @param nanos when it was known, by this process's clock; a clock carried on from there never
   *     runs ahead of the database's
   */
  record BatchInput(ScopeState state, Vetoes vetoes, boolean locked, long nanos) {
    BatchInput with(Vetoes found) {
      return new BatchInput(state, found, locked, nanos);
    }
  }

  @Override
  protected ScopeId keyOf(HoldCommand<?> command) {
    return command.scope();
  }

  @Override
  protected void requireWithinLimits(HoldCommand<?> command) {
    config.requireWithinLimits(command);
  }

  @Override
  protected HoldOutcome overloaded(Duration retryAfter) {
    return new HoldOutcome.HoldsOverloaded(retryAfter);
  }

  @Override
  protected String expiringOf(ScopeId scope) {
    return "holds of scope " + scope.value();
  }

  @Override
  public BatchInput lock(
      Exchange exchange, ScopeId scope, List<QueuedCommand<HoldCommand<?>, HoldOutcome>> batch)
      throws SQLException {
    List<Acquire> acquires = acquiresOf(batch);
    boolean acquiresOnly = acquires.size() == batch.size();
    long nanos = System.nanoTime();
    if (acquiresOnly && batch.stream().allMatch(one -> one.attachment() == null)) {
      Optional<ScopeState> cached = cache(scope).recall(acquires, nanos);
      if (cached.isPresent()) {
        return new BatchInput(cached.get(), Vetoes.NONE, false, nanos);
      }
    }
    ScopeState state = lock(exchange, scope, batch, acquiresOnly ? acquires : null);
    return new BatchInput(state, Vetoes.NONE, true, System.nanoTime());
  }

  @Override
  public BatchInput consult(
      Exchange exchange,
      ScopeId scope,
      BatchInput input,
      List<QueuedCommand<HoldCommand<?>, HoldOutcome>> batch)
      throws SQLException {
    return input.with(Vetoes.of(exchange, scope, batch));
  }

  private ScopeState lock(
      Exchange exchange,
      ScopeId scope,
      List<QueuedCommand<HoldCommand<?>, HoldOutcome>> batch,
      @Nullable List<Acquire> acquires)
      throws SQLException {
    ScopeState state = read(exchange, scope, batch, acquires);
    // Remembered from a transaction that created the pool without units and then rolled back.
    boolean mistaken =
        state.pools().entrySet().stream()
            .filter(pool -> pool.getValue().hasUnits())
            .map(pool -> counted.remove(new CountedPool(scope, pool.getKey())))
            .reduce(false, Boolean::logicalOr);
    if (mistaken) {
      state = read(exchange, scope, batch, acquires);
    }
    if (counted.size() > MAX_CACHED_POOLS) {
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
   * @param acquires the commands if all of them are acquires; otherwise null
   */
  private ScopeState read(
      Exchange exchange,
      ScopeId scope,
      List<QueuedCommand<HoldCommand<?>, HoldOutcome>> batch,
      @Nullable List<Acquire> acquires)
      throws SQLException {
    Predicate<PoolId> isCounted = pool -> counted.contains(new CountedPool(scope, pool));
    return acquires == null
        ? new StateReader(scope, commandsOf(batch), config.sweepBatch(), isCounted).read(exchange)
        : new AcquireReader(scope, acquires, isCounted).read(exchange);
  }

  @Override
  public DecidedBatch<HoldCommand<?>, HoldOutcome, BatchInput, Plan> decide(
      ScopeId scope, BatchInput input, List<QueuedCommand<HoldCommand<?>, HoldOutcome>> batch) {
    ScopeState state = input.state();
    Vetoes vetoes = input.vetoes();
    List<HoldCommand<?>> commands = new ArrayList<>(batch.size());
    BitSet vetoed = new BitSet();
    for (int i = 0; i < batch.size(); i++) {
      HoldCommand<?> command = batch.get(i).command();
      if (command != null && !vetoes.nextBatch().get(i)) {
        vetoed.set(commands.size(), vetoes.refused().get(i));
        commands.add(command);
      }
    }
    Plan plan = Decision.decide(state, commands, vetoed, config.maxLifetime(), inOrder(batch));
    return decided(
        input,
        plan,
        batch,
        plan.decisions(),
        vetoes.nextBatch(),
        state.expired().size(),
        state.moreExpired());
  }

  @Override
  protected void writePlan(
      Exchange exchange,
      ScopeId scope,
      DecidedBatch<HoldCommand<?>, HoldOutcome, BatchInput, Plan> batch)
      throws SQLException {
    PlanWriter writer = new PlanWriter(scope, batch.plan());
    if (batch.input().locked()) {
      writer.write(exchange);
    } else if (batch.replies().stream().allMatch(reply -> reply.outcome() instanceof Granted)) {
      writer.writeUnread(exchange);
    } else {
      throw SqlFault.conflict(
          "Scope %d: a refusal must be decided on locked rows; run again".formatted(scope.value()));
    }
  }

  @Override
  public void committed(
      ScopeId scope, DecidedBatch<HoldCommand<?>, HoldOutcome, BatchInput, Plan> batch) {
    BatchInput input = batch.input();
    if (input.locked()) {
      cache(scope).learn(input.state(), input.nanos(), batch.plan());
    } else {
      cache(scope).confirm(batch.plan());
    }
  }

  private ScopeCache cache(ScopeId scope) {
    if (caches.size() > MAX_CACHED_SCOPES) {
      caches.clear();
    }
    return caches.computeIfAbsent(scope, s -> new ScopeCache());
  }

  private static List<Acquire> acquiresOf(List<QueuedCommand<HoldCommand<?>, HoldOutcome>> batch) {
    List<Acquire> acquires = new ArrayList<>(batch.size());
    for (QueuedCommand<HoldCommand<?>, HoldOutcome> one : batch) {
      if (!one.sweepsFirst() && one.command() instanceof Acquire acquire) {
        acquires.add(acquire);
      }
    }
    return acquires;
  }

  @Override
  protected boolean stands(HoldOutcome outcome) {
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
  public Trace trace(
      ScopeId scope, DecidedBatch<HoldCommand<?>, HoldOutcome, BatchInput, Plan> batch) {
    Plan plan = batch.plan();
    if (!plan.audit().isEmpty()) {
      StockChange last = plan.audit().get(plan.audit().size() - 1);
      return new Trace.OwnRows(connection -> audited(connection, scope, last));
    }
    return !plan.changedHolds().isEmpty() || batch.accompanied()
        ? new Trace.Mark(scope.value(), plan.now())
        : new Trace.Nothing();
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
}
