package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.fault.LockTimeout;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A scope that somebody has locked keeps the sweep from no other. */
class LockedScopeTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final String LOCK_POOLS =
      "SELECT count(*) FROM (SELECT FROM lockstep.pool WHERE scope = ? FOR UPDATE) locked";

  @Test
  void oneLockedScopeKeepsTheSweepFromNoOther() throws Exception {
    Sale locked = fixture.sale(impatient());
    Hold stuck = expired(locked);
    Sale later = fixture.sale();
    Hold due = expired(later);

    try (Connection connection = lock(locked)) {
      assertThatThrownBy(() -> locked.node().sweep()).isInstanceOf(LockTimeout.class);

      assertThat(later.find(due.id()).state()).isEqualTo(HoldState.EXPIRED);
      assertThat(locked.find(stuck.id()).state()).isEqualTo(HoldState.HELD);
      connection.rollback();
    }
    assertThat(locked.node().sweep()).as("as soon as it is free").isEqualTo(1);
  }

  @Test
  void theSweeperInTheBackgroundPassesALockedScopeEveryRound() throws Exception {
    Sale locked = fixture.sale(impatient());
    expired(locked);
    Sale later = fixture.sale();

    try (Connection connection = lock(locked);
        AutoCloseable sweeper = locked.node().startSweeper(Duration.ofMillis(5))) {
      for (int round = 0; round < 3; round++) {
        Hold due = expired(later);
        Await.until("swept by " + sweeper, () -> later.find(due.id()).state() == HoldState.EXPIRED);
      }
      connection.rollback();
      Await.until("swept in the end", () -> locked.holds(HoldState.EXPIRED) == 1);
    }
  }

  private static Hold expired(Sale sale) {
    Hold hold = sale.hold("buyer", Line.of(sale.counted(1), 1));
    Expire.now(database, hold);
    return hold;
  }

  private static Connection lock(Sale sale) throws Exception {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    Sql.query(connection, LOCK_POOLS, sale.scope().value());
    return connection;
  }

  private static HoldsConfig impatient() {
    CombinerConfig combiner = HoldsConfig.DEFAULT.combiner();
    return HoldsConfig.DEFAULT.withCombiner(
        combiner.withTransaction(combiner.transaction().withLockTimeout(Duration.ofMillis(50))));
  }
}
