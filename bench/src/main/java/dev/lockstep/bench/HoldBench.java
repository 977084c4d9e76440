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
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Holds on scarce stock: the documents' flows, hand-written SQL, Redis, Lockstep, the ceiling. */
final class HoldBench implements Benchmark {
  private static final String REPEATABLE_READ = "documents, REPEATABLE READ";
  private static final String READ_COMMITTED = "documents, READ COMMITTED";
  private static final String FOR_UPDATE = "counter, FOR UPDATE";
  private static final String CONDITIONAL = "counter, conditional UPDATE";
  private static final String THOUSAND_COUNTERS = "the same, 1,000 counters";
  private static final String REDIS = "Redis script, appendfsync always";
  private static final String COUNTED = "Lockstep, counted";
  private static final String THOUSAND_POOLS = "Lockstep, 1,000 pools";
  private static final String UNITS = "Lockstep, units";
  private static final String THOUSAND_UNITS = "Lockstep, a thousand units a pool";
  private static final String CEILING = "ceiling: bulk SQL, one writer";
  private static final String CEILING_OF_POOLS = "ceiling: the same, 1,000 pools";
  // The lone caller runs last, when everything is compiled.
  private static final int[] CALLERS = {50, 500, 4_000, 1};
  private static final int RUSH = 500;
  private static final int MILLION = 1_000_000;
  private static final int COMPILED_AFTER = 5;
  // More than a machine with this many cores sells. Surplus only costs setup time.
  private static final int UNITS_A_SECOND = 30_000 * Runtime.getRuntime().availableProcessors();
  private static final int UNITS_A_SECOND_ALONE = 20_000;
  private static final int BUYER_LIMIT = 5;
  private static final int DOCUMENT_CAMPAIGNS = 25;

  private final BenchRun run;
  private final BenchDatabase database;
  private final Report report;
  private final Transactor transactor;
  private final Holds holds;
  private final @Nullable RedisFlow redis;
  private final Set<String> warm = new HashSet<>();
  private long lastScope;
  private int lastProduct;
  private int lastCampaign;

  private HoldBench(BenchRun run) throws IOException {
    this.run = run;
    this.database = run.database();
    this.report = run.report();
    this.transactor = new Transactor(database.pool());
    this.holds = new Holds(transactor);
    this.redis = RedisFlow.available() ? RedisFlow.start() : null;
  }

  static HoldBench open(BenchRun run) throws SQLException, IOException {
    DocumentFlow.createTables(run.database());
    CounterFlow.createTables(run.database());
    return new HoldBench(run);
  }

  @Override
  public void measure() throws Exception {
    warmUp();
    for (int callers : CALLERS) {
      measure(callers, contenders(callers));
    }
  }

  /** Compilation takes ten seconds or more, which the first contender would otherwise pay. */
  private void warmUp() throws Exception {
    for (Contender contender : List.of(counted(), seats(UNITS_A_SECOND * COMPILED_AFTER))) {
      Load.of("Warming up", RUSH, contender.call()).run(COMPILED_AFTER - 1, 1);
    }
  }

  private List<Contender> contenders(int callers) throws Exception {
    List<Contender> contenders = new ArrayList<>();
    contenders.add(documents(REPEATABLE_READ, "REPEATABLE READ"));
    contenders.add(documents(READ_COMMITTED, "READ COMMITTED"));
    contenders.add(counter(FOR_UPDATE, 1, true));
    contenders.add(counter(CONDITIONAL, 1, false));
    if (callers == RUSH) {
      contenders.add(counter(THOUSAND_COUNTERS, 1_000, false));
    }
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
      // Pools of a thousand are sold one after the other; a call's number decides its pool.
      contenders.add(
          lockstep(
              THOUSAND_UNITS,
              pool -> units(pool, 1_000),
              unitsFor(callers) / 1_000,
              n -> pool(1 + (int) (n / 1_000))));
      contenders.add(ceiling(CEILING, 1));
      contenders.add(ceiling(CEILING_OF_POOLS, 1_000));
    }
    if (redis == null) {
      report.add(Measured.skipped(REDIS, callers, "redis-server is not installed"));
    } else {
      contenders.add(redis(redis, "run-" + callers));
    }
    return contenders;
  }

  @Override
  public void close() throws IOException {
    holds.close();
    if (redis != null) {
      redis.close();
    }
  }

  /** Units that outlast the load. */
  private int unitsFor(int callers) {
    int aSecond = callers == 1 ? UNITS_A_SECOND_ALONE : UNITS_A_SECOND;
    return (int) (aSecond * run.longestSeconds());
  }

  @Override
  public void aims() {
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
        "1,000 pools / ceiling for 1,000 pools, 500 callers",
        report.find(THOUSAND_POOLS, 500),
        report.find(CEILING_OF_POOLS, 1),
        0.6);
  }

  private Contender counted() {
    return lockstep(COUNTED, pool -> NewPool.counted(pool(pool), 50_000_000), 1, n -> pool(1));
  }

  private Contender seats(int stock) {
    return lockstep(UNITS, pool -> units(pool, stock), 1, n -> pool(1));
  }

  private void measure(int callers, List<Contender> contenders) throws Exception {
    if (callers == 1) {
      run.alone(contenders);
      return;
    }
    boolean rush = callers == RUSH;
    if (rush) {
      // Slow, but most aims are measured here.
      database.settle();
      run.inTurns(contenders.stream().filter(contender -> !contender.pooled()).toList(), RUSH);
    }
    for (Contender contender : contenders) {
      if (!rush || contender.pooled()) {
        database.execute("CHECKPOINT");
        // Code compiled for one number of callers serves the others.
        run.measure(contender, callers, run.warmUpSeconds(warm.add(contender.name())));
      }
    }
  }

  private Contender documents(String name, String isolation) throws Exception {
    Progress.say("%s: creating positions", name);
    int first = lastCampaign + 1;
    lastCampaign += DOCUMENT_CAMPAIGNS;
    DocumentFlow flow = DocumentFlow.create(database, isolation, first, DOCUMENT_CAMPAIGNS);
    return Contender.pooled(
        name, n -> flow.buy(Names.buyer(n), "%d-%d".formatted(first, n)), flow::purchases);
  }

  private Contender counter(String name, int products, boolean lockFirst) throws Exception {
    CounterFlow flow = CounterFlow.create(database, lastProduct + 1, products, lockFirst);
    lastProduct += products;
    return Contender.pooled(name, flow::reserve, flow::reservations);
  }

  private Contender lockstep(
      String name, IntFunction<NewPool> pool, int pools, LongFunction<PoolId> choice) {
    ScopeId scope = create(name, pool, pools);
    return Contender.of(name, n -> acquire(scope, n, choice.apply(n)), () -> granted(scope));
  }

  private ScopeId create(String name, IntFunction<NewPool> pool, int pools) {
    Progress.say("%s: creating stock", name);
    ScopeId scope = new ScopeId(++lastScope);
    holds.createScope(scope, OptionalInt.of(BUYER_LIMIT));
    List<NewPool> created = new ArrayList<>(pools);
    for (int i = 1; i <= pools; i++) {
      created.add(pool.apply(i));
    }
    holds.createPools(scope, created);
    return scope;
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
          (SELECT count(*) n FROM lockstep.stock_audit WHERE scope = %1$d AND seq > 0) a,
          (SELECT sum(used) n FROM lockstep.quota WHERE scope = %1$d) q"""
            .formatted(scope.value()));
  }

  private static Contender redis(RedisFlow redis, String stock) {
    redis.reset(stock);
    return Contender.of(
        REDIS, n -> redis.take(stock, Names.buyer(n), Names.key(n)), () -> redis.sold(stock));
  }

  private Contender ceiling(String name, int pools) {
    ScopeId scope = create(name, pool -> NewPool.counted(pool(pool), 50_000_000 / pools), pools);
    BulkRows rows = new BulkRows(transactor, scope.value(), pools);
    return Contender.inBatches(name, BulkRows.BATCH, n -> rows.writeBatch(), () -> granted(scope));
  }

  private static PoolId pool(int number) {
    return new PoolId(number);
  }

  private static NewPool units(int number, int total) {
    return NewPool.ofUnits(pool(number), total, UnitShuffle.seeded(new byte[32]));
  }
}
