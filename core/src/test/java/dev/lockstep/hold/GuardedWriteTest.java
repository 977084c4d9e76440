package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.combine.QueuedCommand;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.hold.HoldOperation.BatchInput;
import dev.lockstep.sql.Exchange;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Each guard in the writes by itself: a plan that was decided on what is no longer so is refused by
 * the very statement that would make it wrong. The rows are read in a transaction that has ended
 * before they change, so no lock helps, and each change is seen by one guard alone.
 */
class GuardedWriteTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  /** The compare-and-set: an extension leaves the pool alone, whose guard would refuse as well. */
  @Test
  void aHoldThatWasReleasedMeanwhileIsNotBroughtBackByAnExtension() throws SQLException {
    Sale sale = fixture.sale();
    Hold hold = sale.hold("buyer", Line.of(sale.counted(1), 1));

    assertRefused(
        sale,
        sale.extend(hold.id(), Sale.HOLD_FOR.multipliedBy(2)),
        () -> sale.ask(sale.release(hold.id())),
        "ended_with_time");

    assertThat(sale.find(hold.id()).state()).isEqualTo(HoldState.RELEASED);
  }

  @Test
  void aHoldThatWasSoldMeanwhileIsNotHeldAgainByAnExtension() throws SQLException {
    Sale sale = fixture.sale();
    Hold hold = sale.hold("buyer", Line.of(sale.counted(1), 1));

    assertRefused(
        sale,
        sale.extend(hold.id(), Sale.HOLD_FOR.multipliedBy(2)),
        () -> sale.ask(sale.confirm(hold.id())),
        "ended_with_time");

    assertThat(sale.find(hold.id()).state()).isEqualTo(HoldState.SOLD);
  }

  @Test
  void countersThatAnotherHasMovedMeanwhileAreNotSetBack() throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(10);

    assertRefused(
        sale,
        sale.acquire("second", Line.of(pool, 1)),
        () -> sale.hold("first", Line.of(pool, 1)),
        "never_oversold");

    assertThat(sale.counts(pool).held()).isEqualTo(1);
  }

  @Test
  void countersOfSeveralPoolsAreNotSetBackEither() throws SQLException {
    Sale sale = fixture.sale();
    PoolId moved = sale.counted(10);
    PoolId other = sale.counted(10);

    assertRefused(
        sale,
        sale.acquire("second", Line.of(moved, 1), Line.of(other, 1)),
        () -> sale.hold("first", Line.of(moved, 1)),
        "never_oversold");
  }

  @Test
  void nothingIsTakenFromAPoolThatWasPausedMeanwhile() throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(10);

    assertRefused(
        sale,
        sale.acquire("buyer", Line.of(pool, 1)),
        () -> sale.node().pause(sale.scope(), pool, "stop"),
        "never_oversold");
  }

  @Test
  void norFromOneOfSeveralPoolsThatWasPausedMeanwhile() throws SQLException {
    Sale sale = fixture.sale();
    PoolId open = sale.counted(10);
    PoolId paused = sale.counted(10);

    assertRefused(
        sale,
        sale.acquire("buyer", Line.of(open, 1), Line.of(paused, 1)),
        () -> sale.node().pause(sale.scope(), paused, "stop"),
        "never_oversold");
  }

  @Test
  void aUnitThatHasAnOwnerIsNotGivenToAnother() throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(3);

    assertRefused(
        sale,
        sale.acquire("buyer", Line.of(pool, 1)),
        () -> ownUnits(sale, "gen_random_uuid()"),
        "rank");

    ownUnits(sale, "NULL");
  }

  /** So many pools that their units are looked up one by one. */
  @Test
  void norIsOneOfManyPools() throws SQLException {
    Sale sale = fixture.sale();
    Line[] lines =
        IntStream.range(0, 6).mapToObj(i -> Line.of(sale.units(2), 1)).toArray(Line[]::new);

    assertRefused(
        sale, sale.acquire("buyer", lines), () -> ownUnits(sale, "gen_random_uuid()"), "rank");

    ownUnits(sale, "NULL");
  }

  @Test
  void aUnitIsGivenBackOnlyByItsOwner() throws SQLException {
    Sale sale = fixture.sale();
    Hold hold = sale.hold("buyer", Line.of(sale.units(1), 1));

    assertRefused(sale, sale.release(hold.id()), () -> ownUnits(sale, "gen_random_uuid()"), "rank");

    ownUnits(sale, "'" + hold.id() + "'");
  }

  @Test
  void whatABuyerTookElsewhereMeanwhileCountsAgainstTheLimit() throws SQLException {
    Sale sale = fixture.saleWithLimit(1);
    PoolId here = sale.counted(10);
    PoolId there = sale.counted(10);

    assertRefused(
        sale,
        sale.acquire("buyer", Line.of(here, 1)),
        () -> sale.hold("buyer", Line.of(there, 1)),
        "quota_used_check");
  }

  @Test
  void aLimitThatWasLoweredMeanwhileIsInForce() throws SQLException {
    Sale sale = fixture.saleWithLimit(5);
    PoolId pool = sale.counted(10);

    assertRefused(
        sale,
        sale.acquire("buyer", Line.of(pool, 3)),
        () -> sale.node().setBuyerLimit(sale.scope(), 2),
        "ended_with_time");
  }

  /** A changed cart writes no new hold, whose row would refuse as well. */
  @Test
  void norDoesACartGrowBeyondIt() throws SQLException {
    Sale sale = fixture.saleWithLimit(5);
    PoolId pool = sale.counted(10);
    Hold hold = sale.hold("buyer", Line.of(pool, 1));

    assertRefused(
        sale,
        sale.change(hold.id(), Line.of(pool, 3)),
        () -> sale.node().setBuyerLimit(sale.scope(), 2),
        "quota_used_check");
  }

  /** Of two pools, so that neither the counters nor the audit tell. */
  @Test
  void anIdThatWasTakenMeanwhileIsNotGivenTwice() throws SQLException {
    Sale sale = fixture.sale();
    PoolId here = sale.counted(10);
    PoolId there = sale.counted(10);
    HoldId id = HoldId.next();

    assertRefused(
        sale,
        sale.acquire(id, "second", Line.of(here, 1)),
        () -> sale.ask(sale.acquire(id, "first", Line.of(there, 1))),
        "hold_pkey");
  }

  /**
   * @param guard names the constraint that refuses what the guard writes
   */
  private static void assertRefused(
      Sale sale, HoldCommand<?> command, Runnable meanwhile, String guard) throws SQLException {
    HoldOperation operation = new HoldOperation(HoldsConfig.DEFAULT);
    List<QueuedCommand<HoldCommand<?>, HoldOutcome>> asks =
        List.of(QueuedCommand.toSubmit(command, null));
    BatchInput seen;
    try (Connection connection = begin()) {
      seen = operation.lock(Exchange.within(connection), sale.scope(), asks);
      connection.rollback();
    }
    meanwhile.run();
    List<String> before = sale.everything();
    var decided = operation.decide(sale.scope(), seen, asks);
    try (Connection connection = begin()) {
      assertThatThrownBy(
              () -> {
                operation.write(Exchange.within(connection), sale.scope(), decided);
                connection.commit();
              })
          .isInstanceOfSatisfying(
              SQLException.class,
              thrown -> assertThat(SqlFault.of(thrown)).isEqualTo(SqlFault.SERIALIZATION))
          .rootCause()
          .hasMessageContaining("\"" + guard + "\"");
      connection.rollback();
    }
    assertThat(sale.everything()).isEqualTo(before);
  }

  /** By hand, past everything else that guards a unit. */
  private static void ownUnits(Sale sale, String owner) {
    database.execute(
        "UPDATE lockstep.unit SET hold = %s WHERE scope = %d"
            .formatted(owner, sale.scope().value()));
  }

  private static Connection begin() throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    return connection;
  }
}
