package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Door;
import dev.lockstep.combine.Trace;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldOperation.Decided;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.Exchange;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.CommitFault.Moment;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The connection is lost during COMMIT: what happened is looked up, never guessed. */
class DoubtfulCommitTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  @ParameterizedTest
  @EnumSource(Moment.class)
  void everyCommandHasOneEffectWheneverTheConnectionIsLost(Moment moment) {
    Sale sale = fixture.saleWithLimit(5);
    PoolId pool = sale.units(5);
    Acquire command = sale.acquire("buyer", Line.of(pool, 2));
    try (CommitFault fault = CommitFault.on(database);
        Holds node = new Holds(new Transactor(fault.dataSource()))) {
      fault.arm(moment);
      AcquireResult acquired = Door.await(node.submit(command));
      fault.arm(moment);
      EndResult sold = Door.await(node.submit(sale.confirm(command.hold())));

      Hold hold = sale.find(command.hold());
      assertThat(((Granted) acquired).replayed()).isFalse();
      assertThat(sold).isEqualTo(new Ended(hold, false, List.of(new PoolCounts(pool, 5, 0, 2))));
    }
    assertThat(sale.audit(pool)).hasSize(2);
  }

  /**
   * A release that was rolled back, and meanwhile another node sold the hold: the audit row has the
   * number and the hold of ours, and is not ours.
   */
  @Test
  void aSaleByAnotherNodeIsNotMistakenForOurRelease() throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(5);
    Hold hold = sale.hold("buyer", Line.of(pool, 1));
    Decided lost = decideAndLose(sale, sale.release(hold.id()));

    sale.ask(sale.confirm(hold.id()));

    assertThat(happened(sale, lost)).isFalse();
  }

  /** The very same command of a client who tried again elsewhere; the rest of our batch is lost. */
  @Test
  void aTwinAtAnotherNodeIsNotMistakenForOurBatch() throws SQLException {
    Sale sale = fixture.sale();
    PoolId here = sale.counted(5);
    PoolId there = sale.counted(5);
    Hold hold = sale.hold("buyer", Line.of(there, 1));
    Decided lost =
        decideAndLose(sale, sale.acquire("other", Line.of(here, 1)), sale.release(hold.id()));

    sale.ask(sale.release(hold.id()));

    assertThat(happened(sale, lost)).isFalse();
  }

  @Test
  void whatWasCommittedIsFoundAndWhatChangedNothingNeedsNoProof() throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(5);

    Decided written = decide(sale, true, sale.acquire("buyer", Line.of(pool, 1)));
    Decided refused = decideAndLose(sale, sale.acquire("buyer", Line.of(pool, 6)));

    assertThat(happened(sale, written)).isTrue();
    assertThat(traceOf(sale, refused)).isEqualTo(new Trace.Nothing());
  }

  /** A lost attempt that commits later may have found the stock that this one did not. */
  @Test
  void aRefusalIsNotFinalWhileALostAttemptMayStillCommit() throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(5);

    Decided granted = decideAndLose(sale, sale.acquire("buyer", Line.of(pool, 1)));
    Decided refused = decideAndLose(sale, sale.acquire("buyer", Line.of(pool, 6)));

    HoldOperation operation = new HoldOperation(HoldsConfig.DEFAULT);
    assertThat(operation.answers(granted)).hasOnlyElementsOfType(AttemptResult.Final.class);
    assertThat(operation.answers(refused)).hasOnlyElementsOfType(AttemptResult.Conditional.class);
  }

  @Test
  void anExtensionLeavesAMarkSinceItLeavesNoAuditRow() throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(5);
    Hold hold = sale.hold("buyer", Line.of(pool, 1));

    Decided extended = decide(sale, true, sale.extend(hold.id(), Sale.HOLD_FOR.multipliedBy(2)));

    assertThat(traceOf(sale, extended))
        .isEqualTo(new Trace.Mark(sale.scope().value(), extended.plan().now()));
    assertThat(marks(sale)).as("on a connection of the caller's").isZero();
    sale.ask(sale.extend(hold.id(), Sale.HOLD_FOR.multipliedBy(3)));
    assertThat(marks(sale)).as("through the queue").isEqualTo(1);
  }

  private static long marks(Sale sale) {
    return database.queryLong(
        "SELECT count(*) FROM lockstep.batch_mark WHERE scope = ?", sale.scope().value());
  }

  private static Decided decideAndLose(Sale sale, HoldCommand<?>... commands) throws SQLException {
    return decide(sale, false, commands);
  }

  private static Decided decide(Sale sale, boolean commit, HoldCommand<?>... commands)
      throws SQLException {
    HoldOperation operation = new HoldOperation(HoldsConfig.DEFAULT);
    List<Ask> asks = List.of(commands).stream().map(command -> Ask.queued(command, null)).toList();
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      Exchange exchange = Exchange.within(connection);
      HoldOperation.Seen seen = operation.lock(exchange, sale.scope(), asks);
      Decided decided = operation.decide(sale.scope(), seen, asks);
      operation.write(exchange, sale.scope(), decided);
      if (commit) {
        connection.commit();
      } else {
        connection.rollback();
      }
      return decided;
    }
  }

  private static boolean happened(Sale sale, Decided decided) throws SQLException {
    Trace trace = traceOf(sale, decided);
    try (Connection connection = database.connection()) {
      return trace instanceof Trace.Rows rows && rows.look().finds(connection);
    }
  }

  private static Trace traceOf(Sale sale, Decided decided) {
    return new HoldOperation(HoldsConfig.DEFAULT).trace(sale.scope(), decided);
  }
}
