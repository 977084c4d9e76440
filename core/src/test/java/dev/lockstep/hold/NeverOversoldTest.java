package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.RaceResult;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Background;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** G1: {@code held + sold <= total} at every instant, and a unit has at most one live hold. */
class NeverOversoldTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final int CALLERS = 1_000;
  private static final int STOCK = 100;

  @ParameterizedTest
  @EnumSource(Door.class)
  void aThousandCallersForAHundredThingsGetExactlyAHundred(Door door) throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(STOCK);

    List<AcquireResult> results =
        Race.<AcquireResult>of(CALLERS)
            .run(i -> sale.ask(door, sale.node(), sale.acquire("buyer-" + i, Line.of(pool, 1))))
            .valuesOrThrow();

    assertThat(Tally.of(results)).isEqualTo(Map.of("Granted", STOCK, "SoldOut", CALLERS - STOCK));
    assertThat(sale.counts(pool)).isEqualTo(new PoolCounts(pool, STOCK, STOCK, 0));
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void aThousandCallersForAHundredUnitsGetEachUnitOnce(Door door) throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(STOCK);

    List<AcquireResult> results =
        Race.<AcquireResult>of(CALLERS)
            .run(i -> sale.ask(door, sale.node(), sale.acquire("buyer-" + i, Line.of(pool, 1))))
            .valuesOrThrow();

    assertThat(Tally.of(results)).isEqualTo(Map.of("Granted", STOCK, "SoldOut", CALLERS - STOCK));
    assertThat(unitsOf(results))
        .containsExactlyInAnyOrderElementsOf(IntStream.range(0, STOCK).boxed().toList());
  }

  @Test
  void bothDoorsOfTwoNodesTogetherSellExactlyTheStock() throws Exception {
    Sale sale = fixture.sale();
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    PoolId things = sale.counted(STOCK);
    PoolId seats = sale.units(STOCK);

    List<AcquireResult> results =
        Race.<AcquireResult>of(400)
            .run(
                i ->
                    sale.ask(
                        Door.of(i),
                        nodes.get(i / 2 % 2),
                        sale.acquire("buyer-" + i, Line.of(i / 4 % 2 == 0 ? things : seats, 1))))
            .valuesOrThrow();

    assertThat(Tally.of(results)).isEqualTo(Map.of("Granted", 2 * STOCK, "SoldOut", 2 * STOCK));
    assertThat(unitsOf(results)).hasSize(STOCK).doesNotHaveDuplicates();
  }

  /** A scope has one writer: its batches mix commands for all eight pools. */
  @Test
  void poolsThatAreSoldSideBySideSellExactlyTheirStock() throws Exception {
    Sale sale = fixture.saleWithLimit(2);
    List<PoolId> pools = IntStream.range(0, 8).mapToObj(i -> sale.counted(25)).toList();

    List<AcquireResult> results =
        Race.<AcquireResult>of(600)
            .run(
                i ->
                    sale.ask(
                        Door.QUEUE,
                        sale.node(),
                        sale.acquire("buyer-" + i / 2, Line.of(pools.get(i % 8), 1))))
            .valuesOrThrow();

    assertThat(Tally.of(results)).isEqualTo(Map.of("Granted", 200, "SoldOut", 400));
    assertThat(sale.faults()).as("no deadlock").doesNotContain(SqlFault.DEADLOCK);
  }

  @Test
  void ofManyPoolsTheUnitsOfACartAreTakenOnceAndAgainWhenGivenBack() {
    Sale sale = fixture.sale();
    List<PoolId> pools = IntStream.range(0, 6).mapToObj(i -> sale.units(3)).toList();

    Hold first = sale.hold("first", ofEach(pools, 2));
    sale.run(sale.release(first.id()));
    Hold all = sale.hold("second", ofEach(pools, 3));

    assertThat(first.lines()).allSatisfy(line -> assertThat(line.units()).hasSize(2));
    assertThat(all.lines())
        .allSatisfy(line -> assertThat(line.units()).containsExactlyInAnyOrder(0, 1, 2));
  }

  private static Line[] ofEach(List<PoolId> pools, int quantity) {
    return pools.stream().map(pool -> Line.of(pool, quantity)).toArray(Line[]::new);
  }

  @Test
  void inAnyMixOfCommandsTheBooksBalanceAtEveryInstant() throws Exception {
    Sale sale = fixture.saleWithLimit(6);
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    List<PoolId> pools = List.of(sale.counted(15), sale.units(15), sale.counted(5));
    AtomicBoolean selling = new AtomicBoolean(true);
    Background<Integer> auditor = Background.start(() -> checkWhile(selling, sale));

    Race.<Integer>of(16)
        .run(i -> new RandomBuyer(sale, nodes.get(i % 2), Door.of(i / 2), pools, i).trade(40))
        .valuesOrThrow();

    selling.set(false);
    assertThat(auditor.result()).isPositive();
    assertThat(sale.faults()).as("no deadlock").doesNotContain(SqlFault.DEADLOCK);
  }

  @Test
  void theDatabaseItselfRefusesACounterBeyondTheTotal() throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(3);
    sale.hold("buyer", Line.of(pool, 2));

    SQLException refused =
        Refused.statement(database, "UPDATE lockstep.pool SET sold = 2 WHERE held = 2");

    assertThat(SqlFault.of(refused)).isEqualTo(SqlFault.CONSTRAINT);
  }

  @Test
  void naiveReadThenWriteSellsTheLastOneToEverybody() throws Exception {
    NaiveSale naive = new NaiveSale(database, 1);
    CyclicBarrier allHaveRead = new CyclicBarrier(8);

    Race.<Boolean>of(8).run(i -> naive.readThenWrite("buyer-" + i, allHaveRead)).valuesOrThrow();

    assertThat(naive.purchases()).as("sold of a stock of 1").isEqualTo(8);
    assertThat(naive.sold()).as("what the counter says").isEqualTo(1);
  }

  @Test
  void naiveRepeatableReadWithACounterFailsAllButOneOfThoseWhoMeet() throws Exception {
    NaiveSale naive = new NaiveSale(database, 100);
    CyclicBarrier allHaveAPosition = new CyclicBarrier(8);

    RaceResult<Boolean> result =
        Race.<Boolean>of(8).run(i -> naive.repeatableReadAndCount("buyer-" + i, allHaveAPosition));

    assertThat(result.values()).containsExactly(true);
    assertThat(result.failures())
        .hasSize(7)
        .allMatch(e -> SqlFault.of((SQLException) e) == SqlFault.SERIALIZATION);
    assertThat(naive.sold()).as("sold of 100 to 8 buyers").isEqualTo(1);
  }

  /** E17. */
  @Test
  void naiveLockingOfASumIsRefusedByTheDatabase() throws Exception {
    NaiveSale naive = new NaiveSale(database, 1);
    SQLException refused =
        Refused.statement(
            database,
            "SELECT c.total - count(p.*) FROM naive.campaign c"
                + " LEFT JOIN naive.purchase p ON true GROUP BY c.total FOR UPDATE OF c");

    assertThat(refused.getSQLState()).as("feature_not_supported").isEqualTo("0A000");
    assertThat(naive.sold()).isZero();
  }

  private static int checkWhile(AtomicBoolean selling, Sale sale) {
    int checks = 0;
    do {
      sale.checkBooks();
      checks++;
    } while (selling.get());
    return checks;
  }

  private static List<Integer> unitsOf(List<AcquireResult> results) {
    List<Integer> units = new ArrayList<>();
    for (AcquireResult result : results) {
      if (result instanceof Granted granted) {
        granted.hold().lines().forEach(line -> units.addAll(line.units()));
      }
    }
    return units;
  }

  /** Does anything a buyer can do, in an order that only the seed decides. */
  private static final class RandomBuyer {
    private final Sale sale;
    private final Holds node;
    private final Door door;
    private final List<PoolId> pools;
    private final String name;
    private final SplittableRandom random;
    private final List<Hold> mine = new ArrayList<>();

    RandomBuyer(Sale sale, Holds node, Door door, List<PoolId> pools, int seed) {
      this.sale = sale;
      this.node = node;
      this.door = door;
      this.pools = pools;
      this.name = "buyer-" + seed % 5;
      this.random = new SplittableRandom(seed);
    }

    int trade(int steps) {
      for (int step = 0; step < steps; step++) {
        if (mine.isEmpty() || random.nextInt(3) == 0) {
          acquire();
        } else {
          touch(mine.get(random.nextInt(mine.size())));
        }
      }
      return mine.size();
    }

    private void acquire() {
      if (ask(sale.acquire(name, lines())) instanceof Granted granted) {
        mine.add(granted.hold());
      }
    }

    private void touch(Hold hold) {
      switch (random.nextInt(7)) {
        case 0 -> ask(sale.confirm(hold.id()));
        case 6 -> ask(sale.giveBack(hold.id()));
        case 1, 2 -> ask(sale.release(hold.id()));
        case 3 -> Expire.now(database, hold);
        case 4 -> ask(sale.extend(hold.id(), Sale.HOLD_FOR));
        default -> ask(sale.change(hold.id(), lines()));
      }
    }

    private Line[] lines() {
      return pools.stream()
          .filter(pool -> pool.equals(pools.get(0)) || random.nextBoolean())
          .map(pool -> Line.of(pool, 1 + random.nextInt(2)))
          .toArray(Line[]::new);
    }

    private <R extends HoldOutcome> R ask(HoldCommand<R> command) {
      return sale.ask(door, node, command);
    }
  }
}
