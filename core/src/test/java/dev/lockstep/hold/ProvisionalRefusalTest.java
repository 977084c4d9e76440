package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.combine.Door;
import dev.lockstep.combine.StillExpiring;
import dev.lockstep.fault.TransientFault;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.Shortage;
import dev.lockstep.hold.HoldOutcome.SoldOut;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * G2: a refusal that expired holds may still cure reaches no caller. Either they are taken back, or
 * the caller is told to try again.
 */
class ProvisionalRefusalTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final String LOCK =
      "SELECT 1 FROM lockstep.hold WHERE scope = ? AND hold = ? FOR ";

  /** Gives up on somebody else's lock after a moment. */
  private static final HoldsConfig IMPATIENT = impatient(Duration.ofMillis(100));

  @ParameterizedTest
  @EnumSource(Door.class)
  void aThousandAndMoreExpiredHoldsAreTakenBackOneByOneBeforeAnythingIsRefused(Door door) {
    int count = 1_200;
    Sale sale = fixture.sale(HoldsConfig.DEFAULT.withSweepBatch(1));
    PoolId pool = sale.counted(count);
    IntStream.range(0, count)
        .mapToObj(i -> sale.node().submit(sale.acquire("first-" + i, Line.of(pool, 1))))
        .toList()
        .forEach(Door::await);
    Expire.all(sale);

    AcquireResult result = sale.ask(door, sale.node(), sale.acquire("all", Line.of(pool, count)));

    assertThat(result).isInstanceOf(Granted.class);
    assertThat(sale.holds(HoldState.EXPIRED)).isEqualTo(count);
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void whileAnExpiredHoldIsLockedAnAcquireIsToldToTryAgainAndNotThatAllIsSold(Door door)
      throws Exception {
    Sale sale = fixture.sale(IMPATIENT);
    PoolId pool = sale.units(1);
    Hold expired = sale.hold("first", Line.of(pool, 1));
    Expire.now(database, expired);
    List<String> before = sale.everything();

    Throwable told =
        whileLocked(
            expired,
            "UPDATE",
            () ->
                catchThrowable(
                    () -> sale.ask(door, sale.node(), sale.acquire("second", Line.of(pool, 1)))));

    assertThat(told).isInstanceOf(TransientFault.class).hasMessageContaining("xpired holds");
    assertThat(sale.everything()).as("nothing was changed").isEqualTo(before);
    assertThat(sale.ask(door, sale.node(), sale.acquire("second", Line.of(pool, 1))))
        .isInstanceOf(Granted.class);
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void whileAnExpiredHoldIsLockedAChangeIsToldToTryAgain(Door door) throws Exception {
    Sale sale = fixture.sale(IMPATIENT);
    PoolId pool = sale.counted(3);
    Hold cart = sale.hold("second", Line.of(pool, 1));
    Hold expired = sale.hold("first", Line.of(pool, 2));
    Expire.now(database, expired);

    Throwable told =
        whileLocked(
            expired,
            "UPDATE",
            () ->
                catchThrowable(
                    () -> sale.ask(door, sale.node(), sale.change(cart.id(), Line.of(pool, 3)))));

    assertThat(told).isInstanceOf(TransientFault.class);
    assertThat(sale.ask(door, sale.node(), sale.change(cart.id(), Line.of(pool, 3))))
        .isInstanceOf(Granted.class);
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void whileABuyersOwnExpiredHoldIsLockedTheLimitIsNotReached(Door door) throws Exception {
    Sale sale = fixture.sale(OptionalInt.of(2), IMPATIENT);
    PoolId pool = sale.counted(100);
    Hold expired = sale.hold("buyer", Line.of(pool, 2));
    Expire.now(database, expired);

    Throwable told =
        whileLocked(
            expired,
            "UPDATE",
            () ->
                catchThrowable(
                    () -> sale.ask(door, sale.node(), sale.acquire("buyer", Line.of(pool, 1)))));

    assertThat(told).isInstanceOf(TransientFault.class);
    assertThat(sale.hold("buyer", Line.of(pool, 2)).quantity()).isEqualTo(2);
  }

  @Test
  void aCallerThatWaitsIsToldTheSame() throws Exception {
    Sale sale = fixture.sale(IMPATIENT);
    PoolId pool = sale.counted(1);
    Hold expired = sale.hold("first", Line.of(pool, 1));
    Expire.now(database, expired);

    Throwable told =
        whileLocked(
            expired,
            "UPDATE",
            () -> catchThrowable(() -> sale.node().call(sale.acquire("second", Line.of(pool, 1)))));

    assertThat(told).isInstanceOf(StillExpiring.class);
  }

  /**
   * CompletableFuture has one thread for all delays of the process, and a callback may block it.
   */
  @Test
  void anAnswerNeedsNoThreadThatTheWholeProcessShares() throws Exception {
    Sale sale = fixture.sale(impatient(Duration.ofSeconds(2)));
    PoolId pool = sale.counted(1);
    Hold expired = sale.hold("first", Line.of(pool, 1));
    Expire.now(database, expired);
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch free = new CountDownLatch(1);
    CompletableFuture<Object> delayed = new CompletableFuture<>();
    CompletableFuture<?> blocked =
        delayed.thenAccept(
            late -> {
              inside.countDown();
              await(free);
            });
    // Last, or the callback could run on this thread.
    delayed.completeOnTimeout("late", 1, TimeUnit.MILLISECONDS);
    try {
      await(inside);
      Throwable told =
          whileLocked(
              expired,
              "UPDATE",
              () ->
                  catchThrowable(
                      () ->
                          sale.node()
                              .submit(sale.acquire("second", Line.of(pool, 1)))
                              .toCompletableFuture()
                              .get(30, TimeUnit.SECONDS)));

      assertThat(told).hasCauseInstanceOf(StillExpiring.class);
      assertThat(blocked).isNotDone();
    } finally {
      free.countDown();
    }
  }

  /** As a foreign key to the hold does. */
  @ParameterizedTest
  @EnumSource(Door.class)
  void whoOnlyRefersToAnExpiredHoldIsInNobodysWay(Door door) throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    Hold expired = sale.hold("first", Line.of(pool, 1));
    Expire.now(database, expired);

    AcquireResult result =
        whileLocked(
            expired,
            "KEY SHARE",
            () -> sale.ask(door, sale.node(), sale.acquire("second", Line.of(pool, 1))));

    assertThat(result).isInstanceOf(Granted.class);
  }

  @Test
  void aLockedHoldThatCouldNotHelpAnywayDoesNotHideWhatIsFree() throws Exception {
    Sale sale = fixture.sale(IMPATIENT);
    PoolId pool = sale.counted(5);
    Hold expired = sale.hold("first", Line.of(pool, 4));
    Expire.now(database, expired);

    AcquireResult result =
        whileLocked(expired, "UPDATE", () -> sale.ask(sale.acquire("second", Line.of(pool, 1))));

    assertThat(result).isInstanceOf(Granted.class);
    assertThat(sale.ask(sale.acquire("third", Line.of(pool, 5))))
        .isEqualTo(new SoldOut(List.of(new Shortage(pool, 5, 4))));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 500})
  void onTheCallersConnectionALaterCommandFindsTheEarlierOneDone(int sweepBatch) {
    Sale sale = fixture.sale(HoldsConfig.DEFAULT.withSweepBatch(sweepBatch));
    PoolId pool = allExpired(sale, 7);
    HoldId cart = HoldId.next();

    List<HoldOutcome> outcomes =
        runAll(sale, sale.acquire(cart, "all", Line.of(pool, 7)), sale.confirm(cart));

    assertThat(outcomes.get(0)).isInstanceOf(Granted.class);
    assertThat(outcomes.get(1)).isInstanceOf(Ended.class);
    assertThat(sale.find(cart).state()).isEqualTo(HoldState.SOLD);
  }

  @Test
  void onTheCallersConnectionALaterCommandDoesNotTakeWhatAnEarlierOneGets() {
    Sale sale = fixture.sale(HoldsConfig.DEFAULT.withSweepBatch(2));
    PoolId pool = allExpired(sale, 7);

    List<HoldOutcome> outcomes =
        runAll(
            sale,
            sale.acquire("first", Line.of(pool, 7)),
            sale.acquire("second", Line.of(pool, 1)));

    assertThat(outcomes.get(0)).isInstanceOf(Granted.class);
    assertThat(outcomes.get(1)).isEqualTo(new SoldOut(List.of(new Shortage(pool, 1, 0))));
  }

  private static List<HoldOutcome> runAll(Sale sale, HoldCommand<?>... commands) {
    return sale.transactor().call(connection -> sale.node().joinAll(connection, List.of(commands)));
  }

  private static PoolId allExpired(Sale sale, int count) {
    PoolId pool = sale.counted(count);
    for (int i = 0; i < count; i++) {
      sale.hold("old-" + i, Line.of(pool, 1));
    }
    Expire.all(sale);
    return pool;
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError("Interrupted", e);
    }
  }

  @FunctionalInterface
  private interface Step<T> {
    T run();
  }

  private static <T> T whileLocked(Hold hold, String strength, Step<T> step) throws SQLException {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      Sql.query(connection, LOCK + strength, hold.scope().value(), hold.id().value());
      T result = step.run();
      connection.rollback();
      return result;
    }
  }

  private static HoldsConfig impatient(Duration lockTimeout) {
    CombinerConfig combiner = HoldsConfig.DEFAULT.combiner();
    return HoldsConfig.DEFAULT.withCombiner(
        combiner.withTransaction(combiner.transaction().withLockTimeout(lockTimeout)));
  }
}
