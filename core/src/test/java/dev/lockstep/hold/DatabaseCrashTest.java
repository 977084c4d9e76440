package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.LockstepException;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Background;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The database stops as in a power cut and comes back while everybody is buying. */
class DatabaseCrashTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.ownServer(true);
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final int CALLERS = 24;
  private static final int STOCK = 2_000;

  /** What each caller was told. */
  private final Queue<HoldId> granted = new ConcurrentLinkedQueue<>();

  private final Queue<HoldId> doubtful = new ConcurrentLinkedQueue<>();
  private final CountDownLatch wellUnderWay = new CountDownLatch(300);

  @Test
  void everyAcknowledgedHoldIsThereAndNoneThatNobodyWasToldOf() throws Exception {
    Sale sale = fixture.saleWithLimit(STOCK);
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    List<PoolId> pools = List.of(sale.units(STOCK / 2), sale.counted(STOCK / 2));
    Background<Boolean> crash = Background.start(this::crashAndRestart);

    Race.<Integer>of(CALLERS)
        .run(i -> buyEverything(sale, nodes.get(i % 2), Door.of(i / 2), pools, i))
        .valuesOrThrow();
    crash.result();

    Set<HoldId> held = held(sale);
    assertThat(granted).doesNotHaveDuplicates();
    assertThat(held).containsAll(granted);
    held.removeAll(granted);
    assertThat(doubtful).as("callers who were told that something went wrong").containsAll(held);
    for (PoolId pool : pools) {
      assertThat(sale.counts(pool).free()).isZero();
    }
  }

  private boolean crashAndRestart() throws InterruptedException {
    assertThat(wellUnderWay.await(60, TimeUnit.SECONDS)).isTrue();
    database.server().crash();
    database.server().restart();
    return true;
  }

  private int buyEverything(Sale sale, Holds node, Door door, List<PoolId> pools, int caller) {
    int bought = 0;
    for (PoolId pool : pools) {
      boolean left = true;
      while (left) {
        Acquire command = sale.acquire("buyer-" + caller, Line.of(pool, 1));
        try {
          left = sale.ask(door, node, command) instanceof Granted;
          if (left) {
            granted.add(command.hold());
            wellUnderWay.countDown();
            bought++;
          }
        } catch (LockstepException e) {
          doubtful.add(command.hold());
        }
      }
    }
    return bought;
  }

  private static Set<HoldId> held(Sale sale) {
    return new HashSet<>(
        database.query(
            "SELECT hold::text FROM lockstep.hold WHERE scope = ? AND state = 0",
            row -> HoldId.of(row.getString(1)),
            sale.scope().value()));
  }
}
