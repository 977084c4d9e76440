package dev.lockstep.bench;

import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.NewPool;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.hold.UnitShuffle;
import dev.lockstep.tx.Transactor;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.LongFunction;

/** Holds on scarce stock: the documents' flows, hand-written SQL, Redis, Lockstep, the ceiling. */
final class HoldBench implements AutoCloseable {
  private static final String REPEATABLE_READ = "documents, REPEATABLE READ";
  private static final String READ_COMMITTED = "documents, READ COMMITTED";
  private static final String FOR_UPDATE = "counter, FOR UPDATE";
  private static final String CONDITIONAL = "counter, conditional UPDATE";
  private static final String REDIS = "Redis script, appendfsync always";
  private static final String COUNTED = "Lockstep, counted";
  private static final String THOUSAND_POOLS = "Lockstep, 1,000 pools";
  private static final String UNITS = "Lockstep, units";
  private static final String THOUSAND_UNITS = "Lockstep, a thousand units a pool";
  private static final String CEILING = "ceiling: bulk SQL, one writer";
  // The lone caller comes last, when everything is compiled.
  private static final int[] CALLERS = {50, 500, 4_000, 1};
  private static final int RUSH = 500;
  private static final int MILLION = 1_000_000;
  private static final int COMPILED_AFTER = 5;
  // More than a machine of so many cores sells. What is not needed only takes time to be made.
  private static final int UNITS_A_SECOND = 30_000 * Runtime.getRuntime().availableProcessors();
  private static final int UNITS_A_SECOND_ALONE = 20_000;
  private static final int BUYER_LIMIT = 5;
  private static final int DOCUMENT_CAMPAIGNS = 25;

  private final BenchDatabase database;
  private final int seconds;
  private final Report report;
  private final Transactor transactor;
  private final Holds holds;
  private final Set<String> warm = new HashSet<>();
  private long lastScope;
  private int lastProduct;
  private int lastCampaign;

  private HoldBench(BenchDatabase database, int seconds, Report report) {
    this.database = database;
    this.seconds = seconds;
    this.report = report;
    this.transactor = new Transactor(database.pool());
    this.holds = new Holds(transactor);
  }

  static void run(BenchDatabase database, int seconds, Report report) throws Exception {
    DocumentFlow.createTables(database);
    CounterFlow.createTables(database);
    try (HoldBench bench = new HoldBench(database, seconds, report)) {
      bench.warmUp();
      for (int callers : CALLERS) {
        bench.measure(callers, bench.contenders(callers));
      }
      bench.redis();
      bench.ceiling();
      bench.aims();
    }
  }

  /** Java compiles for ten seconds or more, which would be booked on whoever comes first. */
  private void warmUp() throws Exception {
    for (Contender contender : List.of(counted(), seats(UNITS_A_SECOND * COMPILED_AFTER))) {
      Load.run("Warming up", RUSH, COMPILED_AFTER - 1, 1, contender.call());
    }
  }

  /** Those whose ratio is an aim stand side by side: a machine has better and worse minutes. */
  private List<Contender> contenders(int callers) throws Exception {
    List<Contender> contenders = new ArrayList<>();
    contenders.add(documents(REPEATABLE_READ, "REPEATABLE READ"));
    contenders.add(documents(READ_COMMITTED, "READ COMMITTED"));
    contenders.add(counter(FOR_UPDATE, true));
    contenders.add(counter(CONDITIONAL, false));
    contenders.add(counted());
    if (callers == RUSH) {
      contenders.add(
          lockstep(
              THOUSAND_POOLS,
              pool -> NewPool.counted(pool(pool), 100_000),
              1_000,
              n -> pool(1 + (int) (n % 1_000))));
    }
    contenders.add(
        seats(callers == RUSH ? Math.max(MILLION, unitsFor(callers)) : unitsFor(callers)));
    if (callers == RUSH) {
      // Pools of a thousand are sold one after the other: each call has its place in one.
      contenders.add(
          lockstep(
              THOUSAND_UNITS,
              pool -> units(pool, 1_000),
              unitsFor(callers) / 1_000,
              n -> pool(1 + (int) (n / 1_000))));
    }
    return contenders;
  }

  @Override
  public void close() {
    holds.close();
  }

  /** Enough for the load. */
  private int unitsFor(int callers) {
    int aSecond = callers == 1 ? UNITS_A_SECOND_ALONE : UNITS_A_SECOND;
    return (int) (aSecond * (seconds + Load.warmUp(true, seconds)));
  }

  private void aims() {
    Measured counted = report.find(COUNTED, 500);
    Measured units = report.find(UNITS, 500);
    Measured documents = report.find(READ_COMMITTED, 500);
    report.atLeast("counted / documents at READ COMMITTED, 500 callers", counted, documents, 30);
    report.atLeast("counted / Redis, 500 callers", counted, report.find(REDIS, 500), 0.6);
    report.atLeast("units / documents at READ COMMITTED, 500 callers", units, documents, 20);
    report.atLeast("counted / ceiling, 500 callers", counted, report.find(CEILING, 1), 0.6);
    report.atMost("p99 of counted in ms / 100 ms, 500 callers", counted.p99Ms(), 100, 1);
    report.atMost("p99 of units in ms / 100 ms, 500 callers", units.p99Ms(), 100, 1);
    report.atMost(
        "p50 latency counted / conditional UPDATE, 1 caller",
        report.find(COUNTED, 1).p50Ms(),
        report.find(CONDITIONAL, 1).p50Ms(),
        1.3);
    report.atLeast(
        "a million units / a thousand units, 500 callers",
        units,
        report.find(THOUSAND_UNITS, 500),
        0.85);
    report.atLeast(
        "1,000 pools / one pool, 500 callers", report.find(THOUSAND_POOLS, 500), counted, 1);
  }

  private Contender counted() {
    return lockstep(COUNTED, pool -> NewPool.counted(pool(pool), 50_000_000), 1, n -> pool(1));
  }

  private Contender seats(int stock) {
    return lockstep(UNITS, pool -> units(pool, stock), 1, n -> pool(1));
  }

  /** What is measured, and what its database shows afterwards. */
  private record Contender(String name, boolean pooled, Load.Call call, Stored stored) {
    Measured run(int callers, double warmUpSeconds, int seconds) throws Exception {
      return pooled
          ? Load.runPooled(name, callers, warmUpSeconds, seconds, call)
          : Load.run(name, callers, warmUpSeconds, seconds, call);
    }

    @FunctionalInterface
    interface Stored {
      long count() throws SQLException;
    }
  }

  /** One after the other; alone, in turns, as a millisecond is easily disturbed. */
  private void measure(int callers, List<Contender> contenders) throws Exception {
    if (callers == 1) {
      InTurns[] turns =
          contenders.stream().map(c -> new InTurns(c.name(), c.call())).toArray(InTurns[]::new);
      List<Measured> results = InTurns.run(seconds, turns);
      for (int i = 0; i < results.size(); i++) {
        book(contenders.get(i), results.get(i));
      }
      return;
    }
    if (callers == RUSH) {
      // Takes long, and the aims are here.
      database.settle();
    }
    for (Contender contender : contenders) {
      database.execute("CHECKPOINT");
      // What was compiled for it serves any number of callers; for the aims, no doubt is left.
      double warmUp = Load.warmUp(warm.add(contender.name()) || callers == RUSH, seconds);
      book(contender, contender.run(callers, warmUp, seconds));
    }
  }

  private void book(Contender contender, Measured measured) throws SQLException {
    Report.requireBalance(contender.name(), measured.acknowledged(), contender.stored().count());
    report.add(measured);
  }

  private Contender documents(String name, String isolation) throws Exception {
    Progress.say("%s: creating positions", name);
    int first = lastCampaign + 1;
    lastCampaign += DOCUMENT_CAMPAIGNS;
    DocumentFlow flow = DocumentFlow.create(database, isolation, first, DOCUMENT_CAMPAIGNS);
    return new Contender(
        name, true, n -> flow.buy(Names.buyer(n), "%d-%d".formatted(first, n)), flow::purchases);
  }

  private Contender counter(String name, boolean lockFirst) throws Exception {
    int product = ++lastProduct;
    CounterFlow flow = CounterFlow.create(database, product, lockFirst);
    return new Contender(
        name,
        true,
        n -> flow.reserve(Names.buyer(n), "%d-%d".formatted(product, n)),
        () -> CounterFlow.reservations(database, product));
  }

  private Contender lockstep(
      String name, IntFunction<NewPool> pool, int pools, LongFunction<PoolId> choice) {
    Progress.say("%s: creating stock", name);
    ScopeId scope = new ScopeId(++lastScope);
    holds.createScope(scope, OptionalInt.of(BUYER_LIMIT));
    List<NewPool> created = new ArrayList<>(pools);
    for (int i = 1; i <= pools; i++) {
      created.add(pool.apply(i));
    }
    holds.createPools(scope, created);
    return new Contender(
        name, false, n -> acquire(scope, n, choice.apply(n)), () -> granted(scope));
  }

  private void acquire(ScopeId scope, long number, PoolId pool) {
    BuyerId buyer = new BuyerId(Names.buyer(number));
    HoldOutcome outcome =
        holds.call(
            Acquire.of(
                scope,
                HoldId.forKey(buyer, Names.key(number)),
                buyer,
                List.of(Line.of(pool, 1)),
                Duration.ofMinutes(15)));
    if (!(outcome instanceof HoldOutcome.Granted)) {
      throw new IllegalStateException("Not granted: " + outcome);
    }
  }

  /** Holds, counters and audit rows must all say the same number. */
  private long granted(ScopeId scope) throws SQLException {
    return database.number(
        """
        SELECT CASE WHEN h.n = p.n AND h.n = a.n AND h.n = q.n THEN h.n ELSE -1 END
        FROM (SELECT count(*) n FROM lockstep.hold WHERE scope = %1$d) h,
          (SELECT sum(held) n FROM lockstep.pool WHERE scope = %1$d) p,
          (SELECT count(*) n FROM lockstep.stock_audit WHERE scope = %1$d) a,
          (SELECT sum(used) n FROM lockstep.quota WHERE scope = %1$d) q"""
            .formatted(scope.value()));
  }

  private void redis() throws Exception {
    if (!RedisFlow.available()) {
      for (int callers : CALLERS) {
        report.add(Measured.skipped(REDIS, callers, "redis-server is not installed"));
      }
      return;
    }
    try (RedisFlow redis = RedisFlow.start()) {
      for (int callers : CALLERS) {
        String run = "run-" + callers;
        redis.reset(run);
        Measured measured =
            Load.run(
                REDIS,
                callers,
                Load.warmUp(warm.add(REDIS), seconds),
                seconds,
                n -> redis.take(run, Names.buyer(n), Names.key(n)));
        Report.requireBalance(REDIS, measured.acknowledged(), redis.sold(run));
        report.add(measured);
      }
    }
  }

  private void ceiling() throws Exception {
    ScopeId scope = new ScopeId(++lastScope);
    holds.createScope(scope, OptionalInt.of(BUYER_LIMIT));
    holds.createPools(scope, List.of(NewPool.counted(pool(1), 50_000_000)));
    BulkRows rows = new BulkRows(transactor, scope.value());
    Measured batches = Load.run(CEILING, 1, seconds, n -> rows.writeBatch());
    Report.requireBalance(CEILING, batches.acknowledged() * BulkRows.BATCH, granted(scope));
    report.add(batches.times(BulkRows.BATCH));
  }

  private static PoolId pool(int number) {
    return new PoolId(number);
  }

  private static NewPool units(int number, int total) {
    return NewPool.ofUnits(pool(number), total, UnitShuffle.seeded(new byte[32]));
  }
}
