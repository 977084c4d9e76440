package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.SlowCommit;
import dev.lockstep.tx.Tampered;
import dev.lockstep.tx.Transactor;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Once a balance was told for an instant that has passed, nobody changes it any more. */
class ClosedInstantTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Bank bank = new Bank(database);

  private static final String BLOCKED =
      """
      SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0""";

  private final AtomicBoolean armed = new AtomicBoolean();
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch resumed = new CountDownLatch(1);

  /** It has decided, and is stopped before it can send. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aNodeThatWasPausedDoesNotWriteIntoThePast(boolean alone) throws Exception {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 100);
    try (Ledger node =
        new Ledger(
            new Transactor(
                Tampered.connections(
                    database.dataSource(),
                    (method, call) -> {
                      if (method.equals("prepareStatement") && armed.compareAndSet(true, false)) {
                        reached.countDown();
                        assertThat(resumed.await(30, TimeUnit.SECONDS)).isTrue();
                      }
                      return call.proceed();
                    })))) {
      node.call(bank.linked(bank.move(world, to, 1), bank.move(to, world, 1)));
      armed.set(true);
      Background<LedgerOutcome> caller =
          Background.start(
              () ->
                  alone
                      ? node.call(bank.move(world, to, 5))
                      : node.call(bank.linked(bank.move(world, to, 2), bank.move(world, to, 3))));
      assertThat(reached.await(30, TimeUnit.SECONDS)).isTrue();
      Instant asked = now().plusMillis(200);
      Await.until("half a second has passed", () -> now().isAfter(asked.plusMillis(300)));
      assertThat(bank.node().balanceAt(bank.book(), to, asked)).isEqualTo(100);
      resumed.countDown();

      caller.result();
      assertThat(bank.balance(to)).isEqualTo(105);
      assertThat(bank.node().balanceAt(bank.book(), to, asked)).isEqualTo(100);
    }
  }

  @Test
  void aTransferThatIsBeingCommittedIsWaitedFor() throws Exception {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 100);
    Instant asked;
    Background<Long> reader;
    try (SlowCommit commits = SlowCommit.of(database, "lockstep.transfer")) {
      Background<TransferResult> caller =
          Background.start(() -> bank.node().call(bank.move(world, to, 5)));
      Await.blocked(database, 1);
      asked = now();
      reader = Background.start(() -> bank.node().balanceAt(bank.book(), to, asked));
      Await.until(
          "it has answered, or waits", () -> reader.isDone() || database.queryLong(BLOCKED) >= 2);
      commits.release();
      caller.result();
    }
    assertThat(bank.node().balanceAt(bank.book(), to, asked)).isEqualTo(reader.result());
    assertThat(bank.node().statement(bank.book(), to, Instant.EPOCH, asked, 10).closing())
        .isEqualTo(reader.result());
  }

  @Test
  void anInstantThatIsStillToComeIsAnsweredAsOfNow() {
    AccountId world = bank.world();
    AccountId to = bank.with(world, 100);

    assertThat(bank.node().balanceAt(bank.book(), to, Instant.MAX)).isEqualTo(100);
    assertThat(bank.node().balanceAt(bank.book(), to, Instant.MIN)).isZero();
  }

  private static Instant now() {
    List<Instant> clock =
        database.query("SELECT clock_timestamp()", row -> row.getTimestamp(1).toInstant());
    return clock.get(0);
  }
}
