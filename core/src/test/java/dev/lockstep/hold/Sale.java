package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Change;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Extend;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxAttempt;
import dev.lockstep.tx.TxOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

/** A scope of its own, the nodes that sell it, and short ways to ask them. */
final class Sale implements AutoCloseable {
  static final Duration HOLD_FOR = Duration.ofMinutes(15);
  static final Actor CLERK = Actor.operator("clerk");
  static final UnitShuffle SHUFFLE = UnitShuffle.seeded("000102030405060708090a0b0c0d0e0f");

  private final TestDatabase database;
  private final Transactor transactor;
  private final HoldsConfig config;
  private final ScopeId scope;
  private final List<Holds> nodes = new ArrayList<>();
  private final Queue<TxAttempt> attempts = new ConcurrentLinkedQueue<>();
  private long pools;

  Sale(TestDatabase database, OptionalInt limit, HoldsConfig config) {
    this.database = database;
    this.transactor = newTransactor();
    this.config = config;
    this.scope =
        new ScopeId(database.queryLong("SELECT coalesce(max(scope), 0) + 1 FROM lockstep.scope"));
    nodes.add(new Holds(transactor, config));
    node().createScope(scope, limit);
  }

  TestDatabase database() {
    return database;
  }

  Transactor transactor() {
    return transactor;
  }

  ScopeId scope() {
    return scope;
  }

  Holds node() {
    return nodes.get(0);
  }

  /** Another server of the same database: it shares nothing with the first but the rows. */
  Holds anotherNode() {
    return anotherNode(config);
  }

  Holds anotherNode(HoldsConfig config) {
    Holds node = new Holds(newTransactor(), config);
    nodes.add(node);
    return node;
  }

  PoolId counted(int total) {
    PoolId pool = new PoolId(++pools);
    node().createPools(scope, List.of(NewPool.counted(pool, total)));
    return pool;
  }

  PoolId units(int total) {
    PoolId pool = new PoolId(++pools);
    node().createPools(scope, List.of(NewPool.ofUnits(pool, total, SHUFFLE)));
    return pool;
  }

  Acquire acquire(String buyer, Line... lines) {
    return acquire(HoldId.next(), buyer, lines);
  }

  Acquire acquire(HoldId hold, String buyer, Line... lines) {
    return Acquire.of(scope, hold, new BuyerId(buyer), List.of(lines), HOLD_FOR);
  }

  Change change(HoldId hold, Line... lines) {
    return new Change(scope, hold, List.of(lines), CLERK);
  }

  Extend extend(HoldId hold, Duration holdFor) {
    return new Extend(scope, hold, holdFor, CLERK);
  }

  Confirm confirm(HoldId hold, Line... expected) {
    return new Confirm(scope, hold, CLERK, List.of(expected));
  }

  Release release(HoldId hold) {
    return new Release(scope, hold, CLERK);
  }

  Return giveBack(HoldId hold) {
    return new Return(scope, hold, CLERK);
  }

  <R extends HoldOutcome> R ask(Door door, Holds node, HoldCommand<R> command) {
    return door.ask(
        transactor(), () -> node.submit(command), connection -> node.run(connection, command));
  }

  /** Through the first node's queue. */
  <R extends HoldOutcome> R ask(HoldCommand<R> command) {
    return ask(Door.QUEUE, node(), command);
  }

  /** On a connection of the caller's. */
  <R extends HoldOutcome> R run(HoldCommand<R> command) {
    return ask(Door.CALLER, node(), command);
  }

  /** A hold that is certainly granted. */
  Hold hold(String buyer, Line... lines) {
    AcquireResult result = ask(acquire(buyer, lines));
    assertThat(result).isInstanceOf(Granted.class);
    return ((Granted) result).hold();
  }

  Hold find(HoldId hold) {
    return node().find(scope, hold).orElseThrow();
  }

  PoolCounts counts(PoolId pool) {
    return node().pools(scope).stream()
        .map(Pool::counts)
        .filter(counts -> counts.pool().equals(pool))
        .findFirst()
        .orElseThrow();
  }

  List<StockChange> audit(PoolId pool) {
    return node().audit(scope, pool, 0, Holds.MAX_PAGE);
  }

  long holds(HoldState state) {
    return database.queryLong(
        "SELECT count(*) FROM lockstep.hold WHERE scope = ? AND state = ?",
        scope.value(),
        (int) state.code());
  }

  /** What went wrong in any transaction of any node, retried or not. */
  List<SqlFault> faults() {
    return attempts.stream().flatMap(attempt -> attempt.fault().stream()).toList();
  }

  /** Transactions of any node, retried ones once for each attempt. */
  int transactions() {
    return attempts.size();
  }

  /** Starts something and returns when a transaction of some node has ended since. */
  <T> T startAndAwaitATransaction(Supplier<T> something) {
    int before = attempts.size();
    T started = something.get();
    Await.until("a transaction ended", () -> attempts.size() > before);
    return started;
  }

  void checkBooks() {
    new Books(database, scope).check();
  }

  /** Every row of the sale, to compare before and after. */
  List<String> everything() {
    return new Books(database, scope).everything();
  }

  private Transactor newTransactor() {
    return new Transactor(database.dataSource(), TxOptions.DEFAULT, attempts::add);
  }

  @Override
  public void close() {
    nodes.forEach(Holds::close);
  }
}
