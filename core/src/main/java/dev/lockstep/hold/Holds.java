package dev.lockstep.hold;

import dev.lockstep.combine.Asker;
import dev.lockstep.combine.Combiner;
import dev.lockstep.combine.Overloaded;
import dev.lockstep.combine.Rounds;
import dev.lockstep.combine.Sweeper;
import dev.lockstep.hold.Ask.Attachment;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.IndexLookups;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

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
 * those of other callers; Lockstep commits. {@link #run} and {@link #runAll} decide commands on the
 * caller's connection, in the caller's transaction; the caller commits, and the pools stay locked
 * until then.
 *
 * <p>Thread-safe. {@link #close} lets queued commands finish, in bounded time.
 */
public final class Holds implements AutoCloseable {
  /** Batches per scope and sweep, so that other scopes get their turn. */
  private static final int MAX_SWEEPS = 1_000;

  public static final int MAX_PAGE = 10_000;
  private static final Duration CREATION_TIMEOUT = Duration.ofMinutes(10);

  private final HoldsConfig config;
  private final Combiner<ScopeId, Ask, Reply> combiner;
  private final Asker<ScopeId, Ask, Reply> asker;
  private final Transactor transactor;
  private final Rounds<ScopeId> sweeps = new Rounds<>();

  public Holds(Transactor transactor) {
    this(transactor, HoldsConfig.DEFAULT);
  }

  public Holds(Transactor transactor, HoldsConfig config) {
    this.config = config;
    this.transactor = transactor;
    HoldOperation operation = new HoldOperation(config);
    this.combiner = Combiner.on(transactor, operation, config.combiner());
    this.asker =
        new Asker<>(
            combiner,
            operation,
            config.combiner().transaction(),
            Ask::thoroughly,
            scope -> "holds of scope " + scope.value());
  }

  /**
   * Queues a command. The stage completes after the transaction committed, with the command's
   * outcome, or exceptionally with a {@link dev.lockstep.fault.LockstepException}. If the queue is
   * full, it completes at once with {@link HoldOutcome.Overloaded}. Callbacks may block, but while
   * 1,024 do, later stages of this object wait for a thread.
   *
   * @throws IllegalArgumentException if the command asks for more time than configured
   */
  public <R extends HoldOutcome> CompletionStage<R> submit(HoldCommand<R> command) {
    return submit(Ask.queued(config.requireWithinLimits(command), null));
  }

  /**
   * As {@link #submit(HoldCommand)}, and waits for the answer. If no other command is ahead, the
   * calling thread runs the transaction and saves the wait for another thread to wake up.
   *
   * @throws dev.lockstep.fault.LockstepException for a fault
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <R extends HoldOutcome> R call(HoldCommand<R> command) {
    Ask ask = Ask.queued(config.requireWithinLimits(command), null);
    try {
      return (R) Objects.requireNonNull(asker.call(command.scope(), ask).outcome());
    } catch (Overloaded overloaded) {
      return (R) new HoldOutcome.Overloaded(overloaded.retryAfter());
    }
  }

  /** As {@link #submit(HoldCommand)}, with a companion that writes in the same transaction. */
  public <R extends HoldOutcome, P> CompletionStage<R> submit(
      HoldCommand<R> command, Companion<P> companion, P payload) {
    return submit(
        Ask.queued(config.requireWithinLimits(command), new Attachment<>(companion, payload)));
  }

  /**
   * Decides a command on the caller's connection. The caller commits.
   *
   * @throws dev.lockstep.fault.SerializationConflict if another transaction was faster: roll back
   *     and start again, which {@link Transactor#call} does for you
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <R extends HoldOutcome> R run(Connection connection, HoldCommand<R> command) {
    return (R) runAll(connection, List.of(command)).get(0);
  }

  /**
   * As {@link #run(Connection, HoldCommand)}, unless the veto refuses the command. The veto also
   * writes here, as any companion does.
   */
  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  public <R extends HoldOutcome, P> R run(
      Connection connection, HoldCommand<R> command, Veto<P> veto, P payload) {
    Attachment<P> attachment = new Attachment<>(veto, payload);
    return (R) runAsks(connection, List.of(Ask.onConnection(command, attachment))).get(0);
  }

  /**
   * Decides commands on the caller's connection. Scopes go in ascending order; within a scope,
   * commands go in the given order. Returns one outcome per command, in the given order. The caller
   * commits.
   *
   * @throws dev.lockstep.fault.SerializationConflict as {@link #run}
   */
  public List<HoldOutcome> runAll(Connection connection, List<? extends HoldCommand<?>> commands) {
    List<Ask> asks = new ArrayList<>(commands.size());
    commands.forEach(command -> asks.add(Ask.onConnection(command, null)));
    return runAsks(connection, asks);
  }

  private List<HoldOutcome> runAsks(Connection connection, List<Ask> asks) {
    Map<Long, List<Integer>> byScope = new TreeMap<>();
    for (int i = 0; i < asks.size(); i++) {
      HoldCommand<?> command =
          config.requireWithinLimits(Objects.requireNonNull(asks.get(i).command()));
      byScope.computeIfAbsent(command.scope().value(), scope -> new ArrayList<>()).add(i);
    }
    List<@Nullable HoldOutcome> outcomes =
        new ArrayList<>(Collections.nCopies(asks.size(), (HoldOutcome) null));
    return transactor.join(
        connection,
        own ->
            IndexLookups.during(
                own,
                c -> {
                  for (Map.Entry<Long, List<Integer>> scope : byScope.entrySet()) {
                    runScope(c, new ScopeId(scope.getKey()), scope.getValue(), asks, outcomes);
                  }
                  return outcomes.stream().map(Objects::requireNonNull).toList();
                }));
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
    return combiner.waiting();
  }

  /** The pools of a scope, ascending. */
  public List<Pool> pools(ScopeId scope) {
    return transactor.call(connection -> Pools.read(connection, scope));
  }

  /** As {@link #pools(ScopeId)}, on the caller's connection; sees that transaction's writes. */
  public List<Pool> pools(Connection connection, ScopeId scope) {
    return transactor.join(connection, c -> Pools.read(c, scope));
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
   * Ends expired holds, scope by scope in small batches. Returns when only holds that other nodes
   * are working on remain. A scope that cannot be swept (because of a lock, for example) does not
   * stop the others.
   *
   * @return how many holds this call ended
   * @throws dev.lockstep.fault.LockstepException if a scope could not be swept; thrown after all
   *     others were
   */
  public int sweep() {
    return sweeps.each(transactor.call(HoldQueries::scopesWithExpired), this::sweepScope);
  }

  private int sweepScope(ScopeId scope) {
    int swept = 0;
    Reply reply;
    int round = 0;
    do {
      reply = combiner.call(scope, Ask.SWEEP);
      swept += reply.swept();
    } while (reply.again() && reply.swept() > 0 && ++round < MAX_SWEEPS);
    return swept;
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
    combiner.close();
  }

  private void runScope(
      Connection connection,
      ScopeId scope,
      List<Integer> indexes,
      List<Ask> asks,
      List<@Nullable HoldOutcome> outcomes)
      throws SQLException {
    List<Ask> own = indexes.stream().map(asks::get).toList();
    List<Reply> replies = asker.apply(Exchange.within(connection), scope, own);
    for (int i = 0; i < replies.size(); i++) {
      outcomes.set(indexes.get(i), replies.get(i).outcome());
    }
  }

  @SuppressWarnings("unchecked") // The decision answers each command with its own result type.
  private <R extends HoldOutcome> CompletionStage<R> submit(Ask ask) {
    CompletableFuture<R> answer = new CompletableFuture<>();
    asker.submit(
        Objects.requireNonNull(ask.command()).scope(),
        ask,
        (reply, thrown) -> {
          if (thrown instanceof Overloaded overloaded) {
            answer.complete((R) new HoldOutcome.Overloaded(overloaded.retryAfter()));
          } else if (thrown != null) {
            answer.completeExceptionally(thrown);
          } else {
            answer.complete((R) Objects.requireNonNull(Objects.requireNonNull(reply).outcome()));
          }
        });
    return answer;
  }
}
