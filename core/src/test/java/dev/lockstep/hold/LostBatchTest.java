package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.combine.Door;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.LatePacket;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.SlowCommit;
import dev.lockstep.tx.Tampered;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A batch that went in one packet is lost with its connection, and may still commit: late, because
 * its packet was delayed, or because the server takes its time. Nobody is told "no" meanwhile.
 */
class LostBatchTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  @Test
  void aBuyerWhoIsRefusedAfterALostBatchIsToldThatNobodyKnows() {
    Sale sale = fixture.saleWithLimit(2);
    PoolId pool = sale.counted(5);
    PoolId elsewhere = sale.counted(5);
    Acquire command = sale.acquire("buyer", Line.of(pool, 2));
    Acquire competing = sale.acquire("buyer", Line.of(elsewhere, 2));
    try (LatePacket network = LatePacket.on(database);
        Holds node =
            new Holds(new Transactor(Tampered.onceLost(network, () -> sale.ask(competing))))) {
      learn(sale, node, pool);
      network.arm();

      Throwable told = catchThrowable(() -> Door.await(node.submit(command)));

      assertThat(network.awaitKept()).as("all of it in one packet").contains("BEGIN", "COMMIT");
      assertThat(told).isInstanceOf(OutcomeUnknown.class);
      sale.ask(sale.release(competing.hold()));
      network.deliver();
    }
  }

  /** Something has expired, so the refusal is provisional, and decided again by another batch. */
  @Test
  void aProvisionalRefusalAfterALostBatchDoesNotBecomeDefinite() {
    Sale sale = fixture.saleWithLimit(2);
    PoolId pool = sale.counted(5);
    PoolId elsewhere = sale.counted(5);
    try (LatePacket network = LatePacket.on(database);
        Holds node =
            new Holds(
                new Transactor(
                    Tampered.onceLost(
                        network,
                        () -> {
                          sale.hold("buyer", Line.of(elsewhere, 2));
                          Expire.now(database, sale.hold("gone", Line.of(elsewhere, 1)));
                        })))) {
      learn(sale, node, pool);
      network.arm();

      Throwable told =
          catchThrowable(() -> Door.await(node.submit(sale.acquire("buyer", Line.of(pool, 2)))));

      assertThat(network.awaitKept()).contains("COMMIT");
      assertThat(told).isInstanceOf(OutcomeUnknown.class);
    }
  }

  @Test
  void aNeighbourInTheLostBatchGetsItsHold() throws Exception {
    Sale sale = fixture.saleWithLimit(2);
    PoolId pool = sale.counted(9);
    PoolId elsewhere = sale.counted(5);
    Sale another = fixture.sale();
    PoolId anotherPool = another.counted(1);
    CountDownLatch queued = new CountDownLatch(1);
    AtomicInteger connections = new AtomicInteger();
    try (LatePacket network = LatePacket.on(database)) {
      DataSource source =
          Tampered.gated(
              Tampered.onceLost(network, () -> sale.hold("greedy", Line.of(elsewhere, 2))),
              () -> {
                switch (connections.incrementAndGet()) {
                  case 3 -> Tampered.await(queued);
                  case 4 -> network.arm();
                  default -> {}
                }
              });
      CombinerConfig oneWriter = HoldsConfig.DEFAULT.combiner().withMaxWriters(1);
      try (Holds node =
          new Holds(new Transactor(source), HoldsConfig.DEFAULT.withCombiner(oneWriter))) {
        learn(sale, node, pool);
        // Keeps the writer busy while the two below come together.
        var busy = node.submit(another.acquire("anybody", Line.of(anotherPool, 1)));
        Acquire modest = sale.acquire("modest", Line.of(pool, 1));
        CompletionStage<AcquireResult> granted = node.submit(modest);
        CompletionStage<AcquireResult> refused =
            node.submit(sale.acquire("greedy", Line.of(pool, 2)));
        queued.countDown();

        assertThat(Door.await(busy)).isInstanceOf(Granted.class);
        assertThat(Door.await(granted)).isEqualTo(new Granted(sale.find(modest.hold()), false));
        assertThat(network.awaitKept()).contains("COMMIT");
        assertThatThrownBy(() -> Door.await(refused)).isInstanceOf(OutcomeUnknown.class);
        network.deliver();
      }
    }
    assertThat(sale.counts(pool).held()).isEqualTo(3);
  }

  @Test
  void aPacketThatComesAfterItsRepetitionDoublesNothing() {
    Sale sale = fixture.saleWithLimit(5);
    PoolId pool = sale.counted(9);
    try (LatePacket network = LatePacket.on(database);
        Holds node = new Holds(new Transactor(network.dataSource()))) {
      learn(sale, node, pool);
      network.arm();
      Acquire command = sale.acquire("buyer", Line.of(pool, 2));

      assertThat(Door.await(node.submit(command)))
          .isEqualTo(new Granted(sale.find(command.hold()), false));
      assertThat(network.awaitKept()).contains("COMMIT");
      network.deliver();
    }
    assertThat(sale.counts(pool).held()).isEqualTo(4);
    assertThat(sale.audit(pool)).hasSize(3);
  }

  /** The repetition meets the locks of the lost one and gives up, by either of two clocks. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aBatchThatTheServerIsStillCommittingIsNotSaidToBeRolledBack(boolean byDeadline)
      throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(5);
    Acquire command = sale.acquire("buyer", Line.of(pool, 1));
    try (CommitFault network = CommitFault.on(database);
        Holds node = new Holds(new Transactor(network.dataSource()), impatient(byDeadline))) {
      // Creating the trigger may take longer than what was learnt lasts.
      try (SlowCommit commits = SlowCommit.preparedFor(database, "lockstep.hold")) {
        learn(sale, node, pool);
        commits.hold();
        Background<AcquireResult> caller = Background.start(() -> node.call(command));
        Await.blocked(database, 1);
        network.proxy().cut();

        assertThatThrownBy(caller::result).isInstanceOf(OutcomeUnknown.class);
        commits.release();
        Await.until(
            "it was committed after all",
            () -> sale.node().find(sale.scope(), command.hold()).isPresent());
      }
    }
  }

  /** Twice: what was learnt lasts for a second, and the first time of anything takes longer. */
  private static void learn(Sale sale, Holds node, PoolId pool) {
    node.call(sale.acquire("first", Line.of(pool, 1)));
    node.call(sale.acquire("second", Line.of(pool, 1)));
  }

  private static HoldsConfig impatient(boolean byDeadline) {
    TxOptions options = HoldsConfig.DEFAULT.combiner().transaction();
    return HoldsConfig.DEFAULT.withCombiner(
        HoldsConfig.DEFAULT
            .combiner()
            .withTransaction(
                byDeadline
                    ? options.withDeadline(Duration.ofSeconds(2))
                    : options.withLockTimeout(Duration.ofMillis(300))));
  }
}
