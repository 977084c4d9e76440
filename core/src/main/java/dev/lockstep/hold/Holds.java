package dev.lockstep.hold;

import static java.util.Objects.requireNonNull;

import dev.lockstep.combine.CommandDoor;
import dev.lockstep.combine.Companion;
import dev.lockstep.combine.CompanionResult;
import dev.lockstep.combine.Sweeper;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;

/**
 * Sells scarce stock: takes, changes, extends, confirms, releases and returns holds on pools.
 *
 * <p><b>Promises.</b> Never oversold: {@code held + sold <= total} at every instant. Never
 * undersold: "sold out" is answered only under the pool's lock, after expired holds were taken
 * back. A cart is held whole or not at all. A buyer's limit holds under any concurrency. A hold
 * ends once: sold, released or expired. A sold hold can be returned, once. Acquiring the same
 * {@link HoldId} again has no further effect. Every stock change writes an audit row in the same
 * transaction.
 *
 * <p><b>Who commits.</b> {@link #submit} and {@link #call} queue a command and combine it with
 * those of other callers; Lockstep commits. {@link #join} and {@link #joinAll} decide commands on
 * the caller's connection, in the caller's transaction; the caller commits, and the pools stay
 * locked until then.
 *
 * <p>Thread-safe. {@link #close} lets queued commands finish, in bounded time.
 */
public final class Holds implements AutoCloseable {
  public static final int MAX_PAGE = 10_000;
  private static final Duration CREATION_TIMEOUT = Duration.ofMinutes(10);

  private final Transactor transactor;
  private final CommandDoor<ScopeId, HoldCommand<?>, HoldOutcome> door;

  public Holds(Transactor transactor) {
    this(transactor, HoldsConfig.DEFAULT);
  }

  public Holds(Transactor transactor, HoldsConfig config) {
    this.transactor = requireNonNull(transactor, "transactor is null");
    requireNonNull(config, "config is null; pass DEFAULT");
    this.door = new CommandDoor<>(transactor, new HoldOperation(config), config.combiner());
  }

  /**
   * Queues a command. The stage completes after the transaction committed, with the command's
   * outcome, or exceptionally with a {@link dev.lockstep.fault.LockstepException}. If the queue is
   * full, it completes at once with {@link HoldOutcome.HoldsOverloaded}. Callbacks may block, but
   * while 1,024 do, later stages of this object wait for a thread.
   *
   * @throws IllegalArgumentException if the command asks for more time than configured
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <O extends HoldOutcome> CompletionStage<O> submit(HoldCommand<O> command) {
    return (CompletionStage<O>) door.submit(command);
  }

  /** As {@link #submit(HoldCommand)}, with a companion that writes in the same transaction. */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <O extends HoldOutcome, P, R> CompletionStage<CompanionResult<O, R>> submit(
      HoldCommand<O> command, Companion<P, HoldOutcome, R> companion, P payload) {
    return (CompletionStage<CompanionResult<O, R>>)
        (CompletionStage<?>) door.submit(command, companion, payload);
  }

  /**
   * As {@link #submit(HoldCommand)}, and waits for the answer. If no other command is ahead, the
   * calling thread runs the transaction and saves the wait for another thread to wake up.
   *
   * @throws dev.lockstep.fault.LockstepException for a fault
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <O extends HoldOutcome> O call(HoldCommand<O> command) {
    return (O) door.call(command);
  }

  /** As {@link #call(HoldCommand)}, with a companion that writes in the same transaction. */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <O extends HoldOutcome, P, R> CompanionResult<O, R> call(
      HoldCommand<O> command, Companion<P, HoldOutcome, R> companion, P payload) {
    return (CompanionResult<O, R>) door.call(command, companion, payload);
  }

  /**
   * Decides a command on the caller's connection. The caller commits.
   *
   * @throws dev.lockstep.fault.SerializationConflict if another transaction was faster: roll back
   *     and start again, which {@link Transactor#call} does for you
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <O extends HoldOutcome> O join(Connection connection, HoldCommand<O> command) {
    return (O) joinAll(connection, List.of(requireNonNull(command, "command is null"))).get(0);
  }

  /**
   * As {@link #join(Connection, HoldCommand)}, with a companion that writes in the same
   * transaction.
   *
   * @throws dev.lockstep.combine.CommandRefused if the companion refuses the command: roll back
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <O extends HoldOutcome, P, R> CompanionResult<O, R> join(
      Connection connection,
      HoldCommand<O> command,
      Companion<P, HoldOutcome, R> companion,
      P payload) {
    return (CompanionResult<O, R>) door.join(connection, command, companion, payload);
  }

  /**
   * Decides commands on the caller's connection. Scopes go in ascending order; within a scope,
   * commands go in the given order. Returns one outcome per command, in the given order. The caller
   * commits.
   *
   * @throws dev.lockstep.fault.SerializationConflict as {@link #join}
   */
  public List<HoldOutcome> joinAll(Connection connection, List<? extends HoldCommand<?>> commands) {
    return door.joinAll(connection, commands);
  }

  /**
   * Creates a scope.
   *
   * @param buyerLimit units that one buyer may have in live holds of the scope; if empty, the scope
   *     never has a limit
   * @throws dev.lockstep.fault.ConstraintViolated if the scope exists
   */
  public void createScope(ScopeId scope, OptionalInt buyerLimit) {
    transactor.run(connection -> createScope(connection, scope, buyerLimit));
  }

  /** As {@link #createScope(ScopeId, OptionalInt)}, on the caller's connection. */
  public void createScope(Connection connection, ScopeId scope, OptionalInt buyerLimit) {
    buyerLimit.ifPresent(Pools::requireLimit);
    transactor.runJoined(connection, c -> Pools.createScope(c, scope, buyerLimit));
  }

  /**
   * Changes the buyer limit of a scope that has one. Buyers above a lowered limit keep what they
   * have.
   *
   * @return false if there is no such scope, or it was created without a limit
   */
  public boolean setBuyerLimit(ScopeId scope, int limit) {
    Pools.requireLimit(limit);
    return transactor.call(connection -> Pools.setBuyerLimit(connection, scope, limit));
  }

  /**
   * Creates pools in a scope, all or none.
   *
   * @throws dev.lockstep.fault.ConstraintViolated if one of them exists
   * @throws IllegalArgumentException if the scope does not exist
   */
  public void createPools(ScopeId scope, List<NewPool> pools) {
    // A million units take seconds, longer than any statement on the hot path may.
    TxOptions patient =
        transactor
            .defaults()
            .withLabel("create pools")
            .withStatementTimeout(CREATION_TIMEOUT)
            .withDeadline(CREATION_TIMEOUT);
    transactor.run(patient, connection -> createPools(connection, scope, pools));
  }

  /** As {@link #createPools(ScopeId, List)}, on the caller's connection. */
  public void createPools(Connection connection, ScopeId scope, List<NewPool> pools) {
    transactor.runJoined(connection, c -> Pools.create(c, scope, pools));
  }

  /**
   * Pauses a pool: from the next decision on, no acquire and no cart change takes more of it.
   * Existing holds can still be confirmed, released and extended.
   *
   * @return false if there is no such pool
   */
  public boolean pause(ScopeId scope, PoolId pool, String reason) {
    if (reason.isBlank()) {
      throw new IllegalArgumentException(
          "Give a reason for the pause; buyers and operators read it");
    }
    return transactor.call(connection -> Pools.pause(connection, scope, pool, reason));
  }

  /**
   * Resumes a paused pool.
   *
   * @return false if there is no such pool
   */
  public boolean resume(ScopeId scope, PoolId pool) {
    return transactor.call(connection -> Pools.resume(connection, scope, pool));
  }

  /** The number of commands that wait for a decision, over all scopes. */
  public int waiting() {
    return door.waiting();
  }

  /** The pools of a scope, ascending. */
  public List<Pool> pools(ScopeId scope) {
    return transactor.call(connection -> Pools.read(connection, scope));
  }

  /** As {@link #pools(ScopeId)}, on the caller's connection; sees that transaction's writes. */
  public List<Pool> pools(Connection connection, ScopeId scope) {
    return transactor.join(connection, c -> Pools.read(c, scope));
  }

  /**
   * The pools of several scopes, ascending, in one statement on the caller's connection. A scope
   * without pools is not in the map.
   */
  public Map<ScopeId, List<Pool>> pools(Connection connection, Collection<ScopeId> scopes) {
    return transactor.join(connection, c -> Pools.read(c, scopes));
  }

  /** The units of a scope that are not free, by pool and unit. Locks nothing. */
  public List<TakenUnit> takenUnits(ScopeId scope) {
    return transactor.call(connection -> HoldQueries.takenUnits(connection, scope));
  }

  /** As {@link #takenUnits(ScopeId)}, on the caller's connection. */
  public List<TakenUnit> takenUnits(Connection connection, ScopeId scope) {
    return transactor.join(connection, c -> HoldQueries.takenUnits(c, scope));
  }

  /** Returns a hold as last written: one that has just expired may still be HELD. */
  public Optional<Hold> find(ScopeId scope, HoldId hold) {
    return transactor.call(connection -> HoldQueries.find(connection, scope, hold));
  }

  /**
   * Lists holds of a scope, newest first, at most {@value #MAX_PAGE}. Reads back from the newest
   * hold, or from {@link HoldFilter#after()}, until the page is full; if few holds match, it reads
   * many.
   */
  public List<Hold> list(ScopeId scope, HoldFilter filter, int limit) {
    return transactor.call(connection -> HoldQueries.page(connection, scope, filter, limit));
  }

  /**
   * Returns a page of a pool's stock audit, oldest first, at most {@value #MAX_PAGE} rows. Pass -1
   * to start with the opening row, 0 to start with the first change.
   */
  public List<StockChange> audit(ScopeId scope, PoolId pool, long afterSeq, int limit) {
    return transactor.call(
        connection -> HoldQueries.audit(connection, scope, pool, afterSeq, limit));
  }

  /**
   * Ends expired holds, scope by scope in small batches, at most 1,000 batches per scope. Leaves
   * those that other nodes are working on. A scope that cannot be swept (because of a lock, for
   * example) does not stop the others.
   *
   * @return how many holds this call ended
   * @throws dev.lockstep.fault.LockstepException if a scope could not be swept; thrown at the end
   */
  public int sweep() {
    return door.sweep(transactor.call(HoldQueries::scopesWithExpired));
  }

  /**
   * Returns the time until the next expiry of an existing hold; empty if none expires within the
   * given time. New holds last at least one second, so a caller that asks every second never misses
   * one.
   */
  public Optional<Duration> untilNextExpiry(Duration within) {
    return transactor.call(connection -> HoldQueries.untilNextExpiry(connection, within));
  }

  /** Starts a thread that calls {@link #sweep()} at this interval until closed. */
  public AutoCloseable startSweeper(Duration interval) {
    return new Sweeper("hold-sweeper", interval, this::sweep);
  }

  @Override
  public void close() {
    door.close();
  }
}
