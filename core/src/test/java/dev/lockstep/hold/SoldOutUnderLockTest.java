package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldEnded;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** G2: what is free is read under the pool's lock, together with what has expired. */
class SoldOutUnderLockTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  /**
   * The only unit is held by a hold that has expired: at no moment is anything sold out. Another
   * transaction takes it back, and lets nobody read quotas until it commits, so an acquire that did
   * not wait for the pool would read it before that and what has expired after it: no unit free,
   * and nothing left to take back.
   */
  @ParameterizedTest
  @EnumSource(Door.class)
  void aSweepBetweenTwoReadsDoesNotMakeASoldOutThatWasNeverTrue(Door door) throws Exception {
    Sale sale = fixture.saleWithLimit(5);
    PoolId pool = sale.counted(1);
    Hold expired = sale.hold("first", Line.of(pool, 1));
    Expire.now(database, expired);
    Holds other = sale.anotherNode();
    Background<AcquireResult> second;

    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      assertThat(other.join(connection, sale.release(expired.id()))).isInstanceOf(HoldEnded.class);
      Sql.execute(connection, "LOCK TABLE lockstep.quota IN ACCESS EXCLUSIVE MODE");
      second =
          Background.start(
              () -> sale.ask(door, sale.node(), sale.acquire("second", Line.of(pool, 1))));
      Await.blocked(database, 1);
      connection.commit();
    }

    assertThat(second.result()).isInstanceOf(Granted.class);
  }
}
