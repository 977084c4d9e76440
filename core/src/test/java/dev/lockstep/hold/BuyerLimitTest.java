package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.LimitReached;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** G4: however a buyer asks, all their live holds of a scope together stay within its limit. */
class BuyerLimitTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final int REQUESTS = 50;
  private static final int LIMIT = 3;

  @ParameterizedTest
  @EnumSource(Door.class)
  void aNewBuyerInFiftyParallelRequestsGetsNoMoreThanTheLimit(Door door) throws Exception {
    Sale sale = fixture.saleWithLimit(LIMIT);
    PoolId pool = sale.counted(1_000);

    List<AcquireResult> results =
        Race.<AcquireResult>of(REQUESTS)
            .run(i -> sale.ask(door, sale.node(), sale.acquire("eager", Line.of(pool, 1))))
            .valuesOrThrow();

    assertExactlyTheLimit(results);
    assertThat(sale.counts(pool).held()).isEqualTo(LIMIT);
  }

  @Test
  void theLimitHoldsOverSeveralPoolsNodesAndDoorsAtOnce() throws Exception {
    Sale sale = fixture.saleWithLimit(LIMIT);
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    List<PoolId> pools =
        Stream.generate(() -> List.of(sale.counted(100), sale.units(100)))
            .limit(3)
            .flatMap(List::stream)
            .toList();

    List<AcquireResult> results =
        Race.<AcquireResult>of(REQUESTS)
            .run(
                i ->
                    sale.ask(
                        Door.of(i / 2),
                        nodes.get(i % 2),
                        sale.acquire("eager", Line.of(pools.get(i % pools.size()), 1))))
            .valuesOrThrow();

    assertExactlyTheLimit(results);
    int held = pools.stream().mapToInt(pool -> sale.counts(pool).held()).sum();
    assertThat(held).isEqualTo(LIMIT);
    assertThat(sale.faults()).as("no deadlock").doesNotContain(SqlFault.DEADLOCK);
  }

  /** Many new buyers at once, each on both nodes and through both doors: first rows collide. */
  @Test
  void theFirstRowsOfManyBuyersDoNotDeadlock() throws Exception {
    Sale sale = fixture.saleWithLimit(2);
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    PoolId pool = sale.counted(1_000);

    List<AcquireResult> results =
        Race.<AcquireResult>of(160)
            .run(
                i ->
                    sale.ask(
                        Door.of(i / 2),
                        nodes.get(i % 2),
                        sale.acquire("buyer-" + i / 8, Line.of(pool, 1))))
            .valuesOrThrow();

    assertThat(Tally.of(results)).isEqualTo(Map.of("Granted", 40, "LimitReached", 120));
    assertThat(sale.faults()).as("no deadlock").doesNotContain(SqlFault.DEADLOCK);
  }

  /** Neither has a row to lock and they share no pool: only the guard of the write is left. */
  @ParameterizedTest
  @EnumSource(Door.class)
  void twoFirstRequestsForDifferentPoolsCannotBothTakeTheWholeLimit(Door door) throws Exception {
    Sale sale = fixture.saleWithLimit(LIMIT);
    PoolId here = sale.counted(10);
    PoolId there = sale.counted(10);
    CompletableFuture<AcquireResult> second;

    try (Connection connection = begin()) {
      sale.node().run(connection, sale.acquire("eager", Line.of(here, LIMIT)));
      second =
          CompletableFuture.supplyAsync(
              () -> sale.ask(door, sale.anotherNode(), sale.acquire("eager", Line.of(there, 1))));
      Await.blocked(database, 1);
      connection.commit();
    }

    assertThat(second.get()).isEqualTo(new LimitReached(LIMIT, LIMIT, 1));
  }

  @Test
  void aFirstRequestThatIsRolledBackUsesNothing() throws Exception {
    Sale sale = fixture.saleWithLimit(LIMIT);
    PoolId pool = sale.counted(10);
    try (Connection connection = begin()) {
      sale.node().run(connection, sale.acquire("eager", Line.of(pool, LIMIT)));
      connection.rollback();
    }

    assertThat(sale.hold("eager", Line.of(pool, LIMIT)).quantity()).isEqualTo(LIMIT);
  }

  @Test
  void whatIsReleasedOrExpiresCanBeUsedAgainAndWhatIsSoldCannot() {
    Sale sale = fixture.saleWithLimit(LIMIT);
    PoolId pool = sale.units(10);
    Hold released = sale.hold("buyer", Line.of(pool, 1));
    Hold expired = sale.hold("buyer", Line.of(pool, 1));
    Hold sold = sale.hold("buyer", Line.of(pool, 1));

    sale.ask(sale.confirm(sold.id()));
    sale.ask(sale.release(released.id()));
    Expire.now(database, expired);

    assertThat(sale.ask(sale.acquire("buyer", Line.of(pool, 3))))
        .isEqualTo(new LimitReached(LIMIT, 1, 3));
    assertThat(sale.hold("buyer", Line.of(pool, 2)).quantity()).isEqualTo(2);
  }

  /** The buyer's own hold is the last of many that have expired. */
  @ParameterizedTest
  @EnumSource(Door.class)
  void limitReachedIsNotSaidBeforeEverythingExpiredWasTakenBack(Door door) {
    Sale sale = fixture.sale(OptionalInt.of(LIMIT), HoldsConfig.DEFAULT.withSweepBatch(2));
    PoolId pool = sale.counted(100);
    Hold own = sale.hold("buyer", Line.of(pool, LIMIT));
    for (int i = 0; i < 9; i++) {
      Expire.now(database, sale.hold("other-" + i, Line.of(pool, 1)));
    }
    Expire.last(database, own);

    assertThat(sale.ask(door, sale.node(), sale.acquire("buyer", Line.of(pool, LIMIT))))
        .isInstanceOf(Granted.class);
  }

  @Test
  void aCartCountsAsAWholeAndAChangeByWhatItAdds() {
    Sale sale = fixture.saleWithLimit(LIMIT);
    PoolId a = sale.counted(10);
    PoolId b = sale.units(10);

    assertThat(sale.ask(sale.acquire("buyer", Line.of(a, 2), Line.of(b, 2))))
        .isEqualTo(new LimitReached(LIMIT, 0, 4));
    Hold cart = sale.hold("buyer", Line.of(a, 2));
    assertThat(sale.ask(sale.change(cart.id(), Line.of(a, 2), Line.of(b, 2))))
        .isEqualTo(new LimitReached(LIMIT, 2, 2));
    assertThat(sale.ask(sale.change(cart.id(), Line.of(b, LIMIT)))).isInstanceOf(Granted.class);
    assertThat(sale.ask(sale.change(cart.id(), Line.of(a, 1)))).isInstanceOf(Granted.class);
    assertThat(sale.hold("buyer", Line.of(b, 2)).quantity()).isEqualTo(2);
  }

  @Test
  void aLoweredLimitTakesNothingAwayAndAllowsNothingMore() {
    Sale sale = fixture.saleWithLimit(LIMIT);
    PoolId pool = sale.counted(10);
    Hold hold = sale.hold("buyer", Line.of(pool, LIMIT));

    assertThat(sale.node().setBuyerLimit(sale.scope(), 1)).isTrue();

    assertThat(sale.ask(sale.acquire("buyer", Line.of(pool, 1))))
        .isEqualTo(new LimitReached(1, LIMIT, 1));
    assertThat(sale.ask(sale.change(hold.id(), Line.of(pool, 2)))).isInstanceOf(Granted.class);
    assertThat(sale.ask(sale.change(hold.id(), Line.of(pool, LIMIT))))
        .isEqualTo(new LimitReached(1, 2, 1));
  }

  @Test
  void aScopeWithoutALimitKeepsNoCountOfItsBuyers() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(100);

    assertThat(sale.hold("buyer", Line.of(pool, 100)).quantity()).isEqualTo(100);
    assertThat(sale.node().setBuyerLimit(sale.scope(), 1)).isFalse();
    assertThat(
            database.queryLong(
                "SELECT count(*) FROM lockstep.quota WHERE scope = ?", sale.scope().value()))
        .isZero();
  }

  @Test
  void naiveCountThenInsertPassesTheLimit() throws Exception {
    NaiveSale naive = new NaiveSale(database, 100);
    CyclicBarrier allHaveCounted = new CyclicBarrier(8);

    Race.<Boolean>of(8).run(i -> naive.countThenInsert("eager", 3, allHaveCounted)).valuesOrThrow();

    assertThat(naive.purchases()).as("bought with a limit of 3").isEqualTo(8);
  }

  private static void assertExactlyTheLimit(List<AcquireResult> results) {
    assertThat(Tally.of(results))
        .isEqualTo(Map.of("Granted", LIMIT, "LimitReached", REQUESTS - LIMIT));
    assertThat(results)
        .filteredOn(result -> result instanceof LimitReached)
        .containsOnly(new LimitReached(LIMIT, LIMIT, 1));
  }

  private static Connection begin() throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    return connection;
  }
}
