package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldEnded;
import dev.lockstep.hold.HoldOutcome.Shortage;
import dev.lockstep.hold.HoldOutcome.SoldOut;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * G2: with more buyers than stock exactly the stock is sold, and "sold out" is said only when
 * nothing is free.
 */
class NeverUndersoldTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final String LOCK_HOLD =
      "SELECT 1 FROM lockstep.hold WHERE scope = ? AND hold = ? FOR UPDATE";

  /** Half of the first buyers give back or let expire; all of it must reach somebody in the end. */
  @Test
  void whateverIsGivenBackOrExpiresIsSoldToSomebodyElse() throws Exception {
    int stock = 40;
    Sale sale = fixture.sale();
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    PoolId pool = sale.units(stock);

    List<Boolean> served =
        Race.<Boolean>of(100)
            .run(i -> buy(sale, nodes.get(i % 2), Door.of(i / 2), pool, i))
            .valuesOrThrow();

    // Who was refused came too early; now that all have made up their minds, what is left sells.
    List<AcquireResult> late = new ArrayList<>();
    for (int i = 0; i < 2 * stock; i++) {
      late.add(sale.ask(sale.acquire("late-" + i, Line.of(pool, 1))));
    }
    int left = stock - (int) served.stream().filter(kept -> kept).count();
    assertThat(Tally.of(late).getOrDefault("Granted", 0)).isEqualTo(left);
    assertThat(sale.counts(pool).free()).isZero();
  }

  private static boolean buy(Sale sale, Holds node, Door door, PoolId pool, int i) {
    if (!(sale.ask(door, node, sale.acquire("buyer-" + i, Line.of(pool, 1)))
        instanceof Granted granted)) {
      return false;
    }
    switch (i % 3) {
      case 0 -> sale.ask(door, node, sale.confirm(granted.hold().id()));
      case 1 -> sale.ask(door, node, sale.release(granted.hold().id()));
      default -> Expire.now(database, granted.hold());
    }
    return i % 3 == 0;
  }

  @Test
  void soldOutTellsWhatIsFreeInEveryPoolThatLacksAndTakesNothing() {
    Sale sale = fixture.sale();
    PoolId few = sale.counted(2);
    PoolId none = sale.units(0);
    PoolId enough = sale.counted(10);

    AcquireResult result =
        sale.ask(sale.acquire("buyer", Line.of(few, 3), Line.of(none, 1), Line.of(enough, 10)));

    assertThat(result)
        .isEqualTo(new SoldOut(List.of(new Shortage(few, 3, 2), new Shortage(none, 1, 0))));
    assertThat(sale.hold("buyer", Line.of(few, 2), Line.of(enough, 10)).quantity()).isEqualTo(12);
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void anAcquireTakesBackWhatHasExpiredBeforeItSaysSoldOut(Door door) {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(1);
    Hold expired = sale.hold("first", Line.of(pool, 1));
    Expire.now(database, expired);

    AcquireResult result = sale.ask(door, sale.node(), sale.acquire("second", Line.of(pool, 1)));

    assertThat(result).isInstanceOf(Granted.class);
    assertThat(((Granted) result).hold().lines()).isEqualTo(expired.lines());
    assertThat(sale.find(expired.id()).state()).isEqualTo(HoldState.EXPIRED);
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void anAcquireTakesBackManyMoreExpiredHoldsThanOneBatchDoes(Door door) {
    Sale sale = fixture.sale(HoldsConfig.DEFAULT.withSweepBatch(3));
    PoolId pool = sale.units(25);
    for (int i = 0; i < 25; i++) {
      sale.hold("first-" + i, Line.of(pool, 1));
    }
    Expire.all(sale);

    AcquireResult result = sale.ask(door, sale.node(), sale.acquire("all", Line.of(pool, 25)));

    assertThat(result).isInstanceOf(Granted.class);
    assertThat(sale.holds(HoldState.EXPIRED)).isEqualTo(25);
  }

  @Test
  void soldOutIsSaidAfterEverythingExpiredWasTakenBackAndStillLacks() {
    Sale sale = fixture.sale(HoldsConfig.DEFAULT.withSweepBatch(2));
    PoolId pool = sale.counted(7);
    for (int i = 0; i < 7; i++) {
      sale.hold("first-" + i, Line.of(pool, 1));
    }
    Expire.all(sale);

    AcquireResult result = sale.ask(sale.acquire("greedy", Line.of(pool, 8)));

    assertThat(result).isEqualTo(new SoldOut(List.of(new Shortage(pool, 8, 7))));
    assertThat(sale.holds(HoldState.EXPIRED)).isEqualTo(7);
  }

  /**
   * Another node has locked the expired hold and is on its way to the pool. Whatever order one
   * gives to the two, the unit is free for the acquire.
   */
  @Test
  void anExpiredHoldThatAnotherNodeIsEndingIsNotSoldOut() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    Hold expired = sale.hold("first", Line.of(pool, 1));
    Expire.now(database, expired);
    Holds other = sale.anotherNode();
    CompletableFuture<AcquireResult> second;

    try (Connection connection = begin()) {
      Sql.query(connection, LOCK_HOLD, sale.scope().value(), expired.id().value());
      second =
          sale.startAndAwaitATransaction(
                  () -> sale.node().submit(sale.acquire("second", Line.of(pool, 1))))
              .toCompletableFuture();
      assertThat(other.join(connection, sale.release(expired.id()))).isInstanceOf(HoldEnded.class);
      connection.commit();
    }

    assertThat(Door.await(second)).isInstanceOf(Granted.class);
  }

  @Test
  void onTheCallersConnectionAnExpiredHoldUnderAnotherNodesLockIsAConflictAndTriedAgain()
      throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    Hold expired = sale.hold("first", Line.of(pool, 1));
    Expire.now(database, expired);
    Background<AcquireResult> second;

    try (Connection connection = begin()) {
      Sql.query(connection, LOCK_HOLD, sale.scope().value(), expired.id().value());
      second =
          sale.startAndAwaitATransaction(
              () -> Background.start(() -> sale.run(sale.acquire("second", Line.of(pool, 1)))));
      connection.commit();
    }

    assertThat(second.result()).isInstanceOf(Granted.class);
  }

  /** The counter under its lock decides, so who comes meanwhile waits for how the other ends. */
  @Test
  void anAcquireWaitsForAHoldThatMayStillFail() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(1);
    CompletableFuture<AcquireResult> second;

    try (Connection connection = begin()) {
      sale.node().join(connection, sale.acquire("first", Line.of(pool, 1)));
      second = sale.node().submit(sale.acquire("second", Line.of(pool, 1))).toCompletableFuture();
      Await.blocked(database, 1);
      connection.rollback();
    }

    assertThat(Door.await(second)).isInstanceOf(Granted.class);
  }

  /** E3. */
  @Test
  void naiveSkipLockedSaysSoldOutWhileTheOnlyHoldIsAboutToFail() throws Exception {
    NaiveSale naive = new NaiveSale(database, 1);
    int secondBuyerGot;

    try (Connection first = naive.begin(Connection.TRANSACTION_READ_COMMITTED);
        Connection second = naive.begin(Connection.TRANSACTION_READ_COMMITTED)) {
      Sql.execute(first, NaiveSale.TAKE_ANY, "first");
      secondBuyerGot = Sql.execute(second, NaiveSale.TAKE_ANY, "second");
      first.rollback();
      second.commit();
    }

    assertThat(secondBuyerGot).as("told sold out").isZero();
    assertThat(database.queryLong("SELECT count(*) FROM naive.position WHERE buyer IS NULL"))
        .as("and yet it is free, with nobody left to buy it")
        .isEqualTo(1);
  }

  /** E5: the trigger that should prevent overselling prevents selling what is reserved. */
  @Test
  void naiveCapacityTriggerRefusesToSellTheLastReservation() throws Exception {
    new NaiveSale(database, 1).addCapacityTrigger();
    database.execute("UPDATE naive.position SET status = 'reserved', buyer = 'b'");

    SQLException refused = Refused.statement(database, "UPDATE naive.position SET status = 'sold'");

    assertThat(refused.getSQLState()).as("raise_exception").isEqualTo("P0001");
  }

  @Test
  void sweepersOfSeveralNodesExpireEachHoldOnce() throws Exception {
    int count = 60;
    Sale sale = fixture.sale(HoldsConfig.DEFAULT.withSweepBatch(4));
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode(), sale.anotherNode());
    PoolId pool = sale.units(count);
    for (int i = 0; i < count; i++) {
      sale.hold("buyer-" + i, Line.of(pool, 1));
    }
    Expire.all(sale);

    List<Integer> swept = Race.<Integer>of(3).run(i -> nodes.get(i).sweep()).valuesOrThrow();
    swept = new ArrayList<>(swept);
    swept.add(sale.node().sweep());

    assertThat(swept.stream().mapToInt(Integer::intValue).sum()).isEqualTo(count);
    assertThat(sale.holds(HoldState.EXPIRED)).isEqualTo(count);
    assertThat(sale.counts(pool).free()).isEqualTo(count);
  }

  @Test
  void sweepsThatShareABatchCountEachHoldOnce() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(11);
    for (int i = 0; i < 10; i++) {
      sale.hold("buyer-" + i, Line.of(pool, 1));
    }

    int swept = 0;
    try (Connection connection = begin()) {
      Sql.query(
          connection,
          "SELECT 1 FROM lockstep.pool WHERE scope = ? FOR UPDATE",
          sale.scope().value());
      // Keeps the queue's writer busy, so that the sweeps come to wait together behind it.
      var first = sale.node().submit(sale.acquire("first", Line.of(pool, 1)));
      Await.blocked(database, 1);
      Expire.all(sale);
      List<Background<Integer>> sweeps = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        sweeps.add(
            sale.startAndAwaitATransaction(() -> Background.start(() -> sale.node().sweep())));
      }
      connection.rollback();
      Door.await(first);
      for (Background<Integer> sweep : sweeps) {
        swept += sweep.result();
      }
    }

    assertThat(swept).isEqualTo(10);
  }

  @Test
  void theSweeperInTheBackgroundTakesBackWhatExpires() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(3);
    sale.hold("buyer", Line.of(pool, 2));
    Hold sold = sale.hold("other", Line.of(pool, 1));
    sale.ask(sale.confirm(sold.id()));
    Expire.all(sale);

    try (AutoCloseable sweeper = sale.node().startSweeper(Duration.ofMillis(5))) {
      Await.until("swept by " + sweeper, () -> sale.counts(pool).held() == 0);
    }

    assertThat(sale.counts(pool)).isEqualTo(new PoolCounts(pool, 3, 0, 1));
  }

  @Test
  void moreBuyersThanStockAreServedExactlyTheStockWhileHoldsExpire() throws Exception {
    int stock = 30;
    Sale sale = fixture.sale(HoldsConfig.DEFAULT.withSweepBatch(4));
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    PoolId pool = sale.counted(stock);
    for (int i = 0; i < stock; i++) {
      sale.hold("gone-" + i, Line.of(pool, 1));
    }
    Expire.all(sale);

    List<AcquireResult> results =
        Race.<AcquireResult>of(90)
            .run(
                i ->
                    sale.ask(
                        Door.of(i),
                        nodes.get(i / 2 % 2),
                        sale.acquire("buyer-" + i, Line.of(pool, 1))))
            .valuesOrThrow();

    assertThat(Tally.of(results)).isEqualTo(Map.of("Granted", stock, "SoldOut", 60));
  }

  private static Connection begin() throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    return connection;
  }
}
