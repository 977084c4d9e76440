package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.LimitReached;
import dev.lockstep.hold.HoldOutcome.Paused;
import dev.lockstep.hold.HoldOutcome.SoldOut;
import dev.lockstep.hold.ScopeState.PoolRow;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.CommitFault.Moment;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Tampered;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A batch may be decided on what the last one left behind. Each test first lets a node learn, then
 * changes behind its back what it has learnt: its next answer must be as if it had looked.
 */
class RememberedStockTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  @Test
  void whatAnotherNodeSoldIsNotSoldAgain() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(3);
    Holds other = sale.anotherNode();
    sale.hold("here", Line.of(pool, 1));
    sale.ask(Door.QUEUE, other, sale.acquire("there", Line.of(pool, 1)));

    assertThat(sale.ask(sale.acquire("here", Line.of(pool, 1)))).isInstanceOf(Granted.class);
    assertThat(sale.ask(Door.QUEUE, other, sale.acquire("there", Line.of(pool, 1))))
        .isInstanceOf(SoldOut.class);
    assertThat(sale.faults()).as("the memory was relied upon").contains(SqlFault.SERIALIZATION);
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void aPoolIsReadAnewWhenItWasCreatedOtherwiseInATransactionThatWasRolledBack(Door door)
      throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = new PoolId(77);
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      sale.node().createPools(connection, sale.scope(), List.of(NewPool.counted(pool, 5)));
      sale.node().run(connection, sale.acquire("first", Line.of(pool, 1)));
      connection.rollback();
    }
    UnitShuffle shuffle = UnitShuffle.seeded("00".repeat(UnitShuffle.MIN_SEED_BYTES));
    sale.node().createPools(sale.scope(), List.of(NewPool.ofUnits(pool, 5, shuffle)));

    Granted granted =
        (Granted) sale.ask(door, sale.node(), sale.acquire("second", Line.of(pool, 2)));

    assertThat(granted.hold().lines().get(0).units()).hasSize(2);
  }

  @Test
  void soldOutIsNeverSaidFromMemory() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(2);
    Hold first = sale.hold("buyer", Line.of(pool, 1));
    sale.hold("buyer", Line.of(pool, 1));
    sale.run(sale.release(first.id()));

    assertThat(sale.ask(sale.acquire("next", Line.of(pool, 1)))).isInstanceOf(Granted.class);
  }

  @Test
  void aPauseIsInForceAtOnce() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(5);
    sale.hold("buyer", Line.of(pool, 1));

    sale.anotherNode().pause(sale.scope(), pool, "recall");

    assertThat(sale.ask(sale.acquire("buyer", Line.of(pool, 1))))
        .isEqualTo(new Paused(pool, "recall"));
  }

  @Test
  void aLoweredLimitIsInForceAtOnce() {
    Sale sale = fixture.saleWithLimit(5);
    PoolId pool = sale.counted(9);
    sale.hold("one", Line.of(pool, 1));

    sale.anotherNode().setBuyerLimit(sale.scope(), 2);

    assertThat(sale.ask(sale.acquire("other", Line.of(pool, 3))))
        .isEqualTo(new LimitReached(2, 0, 3));
  }

  @Test
  void aBuyerWhoBoughtElsewhereIsToldWhatWasUsed() {
    Sale sale = fixture.saleWithLimit(2);
    PoolId pool = sale.counted(9);
    PoolId elsewhere = sale.counted(9);
    sale.hold("somebody", Line.of(pool, 1));
    sale.run(sale.acquire("buyer", Line.of(elsewhere, 2)));

    assertThat(sale.ask(sale.acquire("buyer", Line.of(pool, 1))))
        .isEqualTo(new LimitReached(2, 2, 1));
  }

  @Test
  void aRepeatedAcquireIsTheFirstOne() {
    Sale sale = fixture.saleWithLimit(2);
    PoolId pool = sale.counted(9);
    Acquire command = sale.acquire("buyer", Line.of(pool, 2));
    Granted first = (Granted) sale.ask(command);

    assertThat(sale.ask(command)).isEqualTo(new Granted(first.hold(), true));
    assertThat(sale.counts(pool).held()).isEqualTo(2);
  }

  @Test
  void holdsTakenFromMemoryLastByTheClockOfTheDatabase() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(9);
    sale.hold("buyer", Line.of(pool, 1));

    Hold remembered = sale.hold("buyer", Line.of(pool, 1));

    assertThat(
            database.queryLong(
                "SELECT abs(extract(epoch FROM expires_at - now()) - ?)::bigint"
                    + " FROM lockstep.hold WHERE hold = ?",
                Sale.HOLD_FOR.toSeconds(),
                remembered.id().value()))
        .as("seconds off, on the slowest machine")
        .isLessThan(60);
  }

  /** It has decided, and is stopped before it can send. */
  @Test
  void aNodeThatWasPausedDoesNotDateItsHoldsInThePast() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(9);
    AtomicBoolean armed = new AtomicBoolean();
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch resumed = new CountDownLatch(1);
    DataSource pausing =
        Tampered.connections(
            database.dataSource(),
            (method, call) -> {
              if (method.equals("prepareStatement") && armed.compareAndSet(true, false)) {
                reached.countDown();
                assertThat(resumed.await(30, TimeUnit.SECONDS)).isTrue();
              }
              return call.proceed();
            });
    try (Holds node = new Holds(new Transactor(pausing))) {
      node.call(sale.acquire("first", Line.of(pool, 1)));
      node.call(sale.acquire("second", Line.of(pool, 1)));
      armed.set(true);
      Background<AcquireResult> caller =
          Background.start(() -> node.call(sale.acquire("buyer", Line.of(pool, 1))));
      assertThat(reached.await(30, TimeUnit.SECONDS)).isTrue();
      Instant paused = clock();
      Await.until("half a second has passed", () -> clock().isAfter(paused.plusMillis(500)));
      resumed.countDown();

      Hold hold = ((Granted) caller.result()).hold();
      assertThat(hold.createdAt()).isAfter(paused.plusMillis(300));
    }
  }

  private static Instant clock() {
    return database
        .query("SELECT clock_timestamp()", row -> row.getTimestamp(1).toInstant())
        .get(0);
  }

  /** Each node learns and relies in turns, while the other sells from the same two pools. */
  @Test
  void twoNodesWithAMemoryOfTheirOwnNeverOversell() throws InterruptedException {
    Sale sale = fixture.saleWithLimit(3);
    List<PoolId> pools = List.of(sale.counted(150), sale.counted(150));
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());

    List<AcquireResult> results =
        Race.<AcquireResult>of(400)
            .run(
                i ->
                    sale.ask(
                        Door.QUEUE,
                        nodes.get(i % 2),
                        sale.acquire("buyer-" + i, Line.of(pools.get(i / 2 % 2), 1))))
            .valuesOrThrow();

    assertThat(results).filteredOn(Granted.class::isInstance).hasSize(300);
    assertThat(results).filteredOn(SoldOut.class::isInstance).hasSize(100);
  }

  /** BEGIN, the writes and COMMIT go in one packet: nobody knows yet which transaction was lost. */
  @ParameterizedTest
  @EnumSource(Moment.class)
  void aBatchLostWithItsConnectionHasOneEffect(Moment moment) {
    Sale sale = fixture.saleWithLimit(5);
    PoolId pool = sale.counted(5);
    Acquire command = sale.acquire("buyer", Line.of(pool, 2));
    try (CommitFault fault = CommitFault.on(database);
        Holds node = new Holds(new Transactor(fault.dataSource()))) {
      Door.await(node.submit(sale.acquire("before", Line.of(pool, 1))));
      fault.arm(moment);

      Granted acquired = (Granted) Door.await(node.submit(command));

      assertThat(fault.fired()).isTrue();
      assertThat(acquired).isEqualTo(new Granted(sale.find(command.hold()), false));
    }
    assertThat(sale.counts(pool).held()).isEqualTo(3);
    assertThat(sale.audit(pool)).hasSize(2);
  }

  @Test
  void aMissIsFollowedByAPauseThatGrowsUntilTheMemoryProvesRightAgain() {
    ScopeMemory memory = new ScopeMemory();
    Memories of = new Memories(memory);
    of.learn(0);

    assertThat(of.recalls(1)).isTrue();
    assertThat(of.recalls(2)).as("tried again: that was a miss").isFalse();
    of.learn(3);
    assertThat(of.recalls(101)).as("within the first pause").isFalse();
    of.learn(101);
    assertThat(of.recalls(102)).as("after it").isTrue();
    assertThat(of.recalls(103)).as("another miss").isFalse();
    of.learn(104);
    assertThat(of.recalls(302)).as("the second pause is longer").isFalse();
    of.learn(302);
    assertThat(of.recalls(303)).isTrue();
    of.confirm();
    assertThat(of.recalls(304)).as("proved right").isTrue();
  }

  @Test
  void theClockIsAskedAgainAfterASecond() {
    Memories of = new Memories(new ScopeMemory());
    of.learn(0);

    assertThat(of.recalls(999)).isTrue();
    of.confirm();
    assertThat(of.recalls(1_000)).isFalse();
  }

  /** A memory of one pool, with the time in milliseconds. */
  private record Memories(ScopeMemory memory) {
    private static final Acquire COMMAND =
        Acquire.of(
            new ScopeId(1),
            HoldId.next(),
            new BuyerId("buyer"),
            List.of(Line.of(new PoolId(1), 1)),
            Duration.ofMinutes(1));

    private static final ScopeState STATE =
        new ScopeState(
            Instant.EPOCH,
            OptionalInt.empty(),
            Map.of(),
            List.of(),
            false,
            Map.of(),
            Map.of(
                new PoolId(1),
                new PoolRow(new PoolCounts(new PoolId(1), 9, 0, 0), false, null, 0, 0)),
            Map.of(),
            Map.of());
    private static final Plan NO_CHANGE =
        Decision.decide(STATE, List.of(), new BitSet(), Duration.ofMinutes(1), false);

    void learn(long ms) {
      memory.learn(STATE, ms * 1_000_000, NO_CHANGE);
    }

    boolean recalls(long ms) {
      return memory.recall(List.of(COMMAND), ms * 1_000_000).isPresent();
    }

    void confirm() {
      memory.confirm(NO_CHANGE);
    }
  }
}
