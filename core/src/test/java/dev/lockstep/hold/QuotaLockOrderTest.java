package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Buyers' quotas are locked in one order, whatever the database's collation thinks of it. */
class QuotaLockOrderTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.migrated().withIcuLocale("en-US");

  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final String LOCK_QUOTA =
      "SELECT 1 FROM lockstep.quota WHERE scope = ? AND buyer = ? FOR UPDATE";
  private static final String LOCK_POOL =
      "SELECT 1 FROM lockstep.pool WHERE scope = ? AND pool = ? FOR UPDATE";

  @Test
  void theDatabaseSortsAsPeopleDo() {
    assertThat(database.queryLong("SELECT ('a' < 'B')::int")).isEqualTo(1);
  }

  /**
   * One batch releases what two buyers have and another acquires for both, from pools they do not
   * share. Both come to wait for the buyer whom a third party has locked; if the two disagree on
   * who is first, one of them has the other buyer by then, and they wait for each other.
   *
   * @param first in the order of the database's collation
   */
  @ParameterizedTest
  @CsvSource({"a, B", "B, a", "Ａ, 😀", "😀, Ａ", "é, z", "z, é"})
  void aReleaseAndAnAcquireOfTheSameBuyersDoNotDeadlock(String first, String second)
      throws Exception {
    Sale sale = fixture.saleWithLimit(10);
    PoolId released = sale.counted(10);
    PoolId acquired = sale.counted(10);
    PoolId busy = sale.counted(10);
    List<Hold> holds =
        List.of(sale.hold(first, Line.of(released, 1)), sale.hold(second, Line.of(released, 1)));
    Holds queue = sale.anotherNode();

    try (Connection contender = begin();
        Connection keepsQueueBusy = begin()) {
      Sql.query(contender, LOCK_QUOTA, sale.scope().value(), first);
      Background<List<HoldOutcome>> releases =
          Background.start(
              () ->
                  sale.transactor()
                      .call(
                          connection ->
                              sale.node()
                                  .runAll(
                                      connection,
                                      holds.stream().map(h -> sale.release(h.id())).toList())));
      Await.blocked(database, 1);
      // So that both acquires come to wait together, and make one batch.
      Sql.query(keepsQueueBusy, LOCK_POOL, sale.scope().value(), busy.value());
      CompletionStage<AcquireResult> before =
          queue.submit(sale.acquire("somebody", Line.of(busy, 1)));
      Await.blocked(database, 2);
      List<CompletionStage<AcquireResult>> acquires =
          List.of(
              queue.submit(sale.acquire(first, Line.of(acquired, 1))),
              queue.submit(sale.acquire(second, Line.of(acquired, 1))));
      keepsQueueBusy.rollback();
      assertThat(Door.await(before)).isInstanceOf(Granted.class);
      Await.blocked(database, 2);
      contender.rollback();

      assertThat(releases.result()).allMatch(outcome -> outcome instanceof Ended);
      acquires.forEach(stage -> assertThat(Door.await(stage)).isInstanceOf(Granted.class));
    }
    assertThat(sale.faults()).doesNotContain(SqlFault.DEADLOCK);
  }

  private static Connection begin() throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    return connection;
  }
}
