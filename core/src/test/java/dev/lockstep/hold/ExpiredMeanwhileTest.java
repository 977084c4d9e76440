package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldEnded;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A hold expires after a transaction began that decides about it: it is decided as of its locks.
 */
class ExpiredMeanwhileTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  @ParameterizedTest
  @EnumSource(Door.class)
  void nothingIsSoldOutThatExpiredWhileTheLockWasWaitedFor(Door door) throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    Hold first = brief(sale, pool);
    assertThat(
            afterALockedPool(
                sale,
                first,
                () -> sale.ask(door, sale.node(), sale.acquire("second", Line.of(pool, 1)))))
        .isInstanceOf(Granted.class);
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void aHoldThatExpiredWhileTheLockWasWaitedForIsNotSold(Door door) throws Exception {
    Sale sale = fixture.sale();
    Hold first = brief(sale, sale.counted(1));
    assertThat(
            afterALockedPool(
                sale, first, () -> sale.ask(door, sale.node(), sale.confirm(first.id()))))
        .isInstanceOf(HoldEnded.class);
  }

  /** One hold is taken back with a batch: the first is another's, the second of another pool. */
  @ParameterizedTest
  @EnumSource(Door.class)
  void anExpiredHoldWhosePoolIsNotLockedIsLeftToTheNextBatch(Door door) throws Exception {
    Sale sale = fixture.sale(HoldsConfig.DEFAULT.withSweepBatch(1));
    Hold first = sale.hold("a", Line.of(sale.counted(1), 1));
    Hold second = sale.hold("b", Line.of(sale.counted(1), 1));
    PoolId other = sale.counted(1);
    try (Connection elsewhere = database.connection()) {
      elsewhere.setAutoCommit(false);
      Expire.now(database, first);
      Sql.execute(
          elsewhere,
          "SELECT FROM lockstep.hold WHERE hold = '%s' FOR NO KEY UPDATE".formatted(first.id()));
      Expire.last(database, second);

      assertThat(sale.ask(door, sale.node(), sale.acquire("c", Line.of(other, 1))))
          .isInstanceOf(Granted.class);
    }
  }

  @Test
  void anOlderTransactionOfTheCallersSellsNoExpiredHold() throws Exception {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    Hold first = brief(sale, pool);
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      Sql.text(connection, "SELECT now()::text");
      awaitExpired(first);
      assertThat(sale.node().join(connection, sale.confirm(first.id())))
          .isInstanceOf(HoldEnded.class);
      assertThat(sale.node().join(connection, sale.acquire("second", Line.of(pool, 1))))
          .isInstanceOf(Granted.class);
      connection.commit();
    }
  }

  /** What it comes to when the hold expires while the pool is locked by somebody else. */
  private static <R> R afterALockedPool(Sale sale, Hold hold, Callable<R> work) throws Exception {
    Background<R> waiting;
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      Sql.text(
          connection,
          "SELECT pool::text FROM lockstep.pool WHERE scope = %d FOR UPDATE"
              .formatted(sale.scope().value()));
      waiting = Background.start(work);
      Await.blocked(database, 1);
      awaitExpired(hold);
      connection.commit();
    }
    return waiting.result();
  }

  /** As short as a hold may be. */
  private static Hold brief(Sale sale, PoolId pool) {
    AcquireResult result =
        sale.ask(
            Acquire.of(
                sale.scope(),
                HoldId.next(),
                new BuyerId("first"),
                List.of(Line.of(pool, 1)),
                Duration.ofSeconds(1)));
    return ((Granted) result).hold();
  }

  private static void awaitExpired(Hold hold) {
    Await.until(
        "its time is up",
        () ->
            database.queryLong(
                    "SELECT count(*) FROM lockstep.hold WHERE hold = '%s'"
                            .formatted(hold.id().value())
                        + " AND expires_at <= clock_timestamp()")
                == 1);
  }
}
