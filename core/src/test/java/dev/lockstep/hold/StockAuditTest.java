package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.lockstep.combine.Door;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.hold.StockChange.Cause;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** G10: every change of stock is accounted for, in an order without gap, and stays so. */
class StockAuditTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  @Test
  void everyChangeSaysWhatItWasWhatItBecameWhyAndByWhom() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(10);
    Hold sold = sale.hold("alice", Line.of(pool, 1));
    sale.ask(sale.change(sold.id(), Line.of(pool, 3)));
    sale.ask(sale.confirm(sold.id()));
    Hold released = sale.hold("bob", Line.of(pool, 2));
    sale.ask(new HoldCommand.Release(sale.scope(), released.id(), Actor.buyer(released.buyer())));
    Hold expired = sale.hold("carol", Line.of(pool, 4));
    Expire.now(database, expired);
    sale.node().sweep();
    sale.ask(sale.giveBack(sold.id()));

    assertThat(sale.audit(pool))
        .extracting(
            StockChange::seq,
            StockChange::hold,
            StockChange::cause,
            StockChange::actor,
            change -> change.before().held() + "+" + change.before().sold(),
            change -> change.after().held() + "+" + change.after().sold())
        .containsExactly(
            tuple(1L, sold.id(), Cause.ACQUIRED, "alice", "0+0", "1+0"),
            tuple(2L, sold.id(), Cause.CHANGED, "clerk", "1+0", "3+0"),
            tuple(3L, sold.id(), Cause.SOLD, "clerk", "3+0", "0+3"),
            tuple(4L, released.id(), Cause.ACQUIRED, "bob", "0+3", "2+3"),
            tuple(5L, released.id(), Cause.RELEASED, "bob", "2+3", "0+3"),
            tuple(6L, expired.id(), Cause.ACQUIRED, "carol", "0+3", "4+3"),
            tuple(7L, expired.id(), Cause.EXPIRED, "expiry", "4+3", "0+3"),
            tuple(8L, sold.id(), Cause.RETURNED, "clerk", "0+3", "0+0"));
    assertThat(sale.audit(pool))
        .isSortedAccordingTo((a, b) -> a.at().compareTo(b.at()))
        .allMatch(change -> !change.at().isBefore(sold.createdAt()));
  }

  @Test
  void aCartLeavesOneRowInEachOfItsPools() {
    Sale sale = fixture.sale();
    PoolId a = sale.counted(5);
    PoolId b = sale.units(5);
    PoolId c = sale.counted(5);
    Hold cart = sale.hold("buyer", Line.of(a, 1), Line.of(b, 2));

    sale.ask(sale.change(cart.id(), Line.of(b, 2), Line.of(c, 1)));

    assertThat(sale.audit(a))
        .extracting(StockChange::cause)
        .containsExactly(Cause.ACQUIRED, Cause.CHANGED);
    assertThat(sale.audit(b))
        .as("its line stayed")
        .extracting(StockChange::cause)
        .containsExactly(Cause.ACQUIRED);
    assertThat(sale.audit(c)).extracting(StockChange::cause).containsExactly(Cause.CHANGED);
  }

  @Test
  void theSequenceOfEachPoolHasNoGapUnderConcurrency() throws Exception {
    Sale sale = fixture.sale();
    List<Holds> nodes = List.of(sale.node(), sale.anotherNode());
    List<PoolId> pools = List.of(sale.counted(1_000), sale.units(1_000));

    Race.<EndResult>of(60)
        .run(
            i -> {
              Holds node = nodes.get(i % 2);
              Door door = Door.of(i / 2);
              HoldId id = HoldId.next();
              sale.ask(
                  door, node, sale.acquire(id, "buyer-" + i, Line.of(pools.get(i / 4 % 2), 1)));
              return sale.ask(door, node, i % 3 == 0 ? sale.release(id) : sale.confirm(id));
            })
        .valuesOrThrow();

    for (PoolId pool : pools) {
      List<StockChange> audit = sale.audit(pool);
      assertThat(audit.stream().map(StockChange::seq))
          .containsExactlyElementsOf(LongStream.rangeClosed(1, audit.size()).boxed().toList());
      for (int i = 1; i < audit.size(); i++) {
        assertThat(audit.get(i).before()).isEqualTo(audit.get(i - 1).after());
      }
    }
    assertThat(pools.stream().mapToInt(pool -> sale.audit(pool).size()).sum()).isEqualTo(120);
  }

  @Test
  void thePoolsFirstRowSaysWhatItBeganWith() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(10);
    sale.hold("buyer", Line.of(pool, 1));

    assertThat(sale.node().audit(sale.scope(), pool, -1, 10))
        .extracting(StockChange::seq, StockChange::cause, StockChange::before, StockChange::after)
        .containsExactly(
            tuple(0L, Cause.OPENED, new PoolCounts(pool, 0, 0, 0), new PoolCounts(pool, 10, 0, 0)),
            tuple(
                1L,
                Cause.ACQUIRED,
                new PoolCounts(pool, 10, 0, 0),
                new PoolCounts(pool, 10, 1, 0)));
  }

  @Test
  void aPageBeginsAfterTheGivenNumber() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(10);
    for (int i = 0; i < 5; i++) {
      sale.hold("buyer", Line.of(pool, 1));
    }

    assertThat(sale.node().audit(sale.scope(), pool, 2, 2))
        .isEqualTo(sale.audit(pool).subList(2, 4));
    assertThat(sale.node().audit(sale.scope(), pool, 5, 10)).isEmpty();
  }

  @Test
  void whatTheCallerRollsBackLeavesNoRow() throws SQLException {
    Sale sale = fixture.saleWithLimit(5);
    PoolId pool = sale.units(5);
    Hold hold = sale.hold("buyer", Line.of(pool, 1));
    List<String> before = sale.everything();

    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      sale.node().run(connection, sale.acquire("buyer", Line.of(pool, 2)));
      sale.node().run(connection, sale.confirm(hold.id()));
      connection.rollback();
    }

    assertThat(sale.everything()).isEqualTo(before);
  }

  @Test
  void aRefusalLeavesNoRow() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    sale.ask(sale.acquire("greedy", Line.of(pool, 2)));

    assertThat(sale.audit(pool)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE lockstep.stock_audit SET actor = 'nobody'",
        "UPDATE lockstep.stock_audit SET seq = seq",
        "DELETE FROM lockstep.stock_audit",
        "TRUNCATE lockstep.stock_audit",
        "INSERT INTO lockstep.stock_audit SELECT * FROM lockstep.stock_audit"
      })
  void theDatabaseRefusesToRewriteWhatHappened(String rewrite) throws SQLException {
    Sale sale = fixture.sale();
    sale.hold("buyer", Line.of(sale.counted(1), 1));
    List<String> before = sale.everything();

    SQLException refused = Refused.statement(database, rewrite);

    assertThat(SqlFault.of(refused)).isEqualTo(SqlFault.CONSTRAINT);
    assertThat(sale.everything()).isEqualTo(before);
  }

  /** A sequence is drawn outside the transaction, so a number that is missing proves nothing. */
  @Test
  void naiveNumbersFromASequenceHaveAGapAfterARollback() throws SQLException {
    database.execute("DROP TABLE IF EXISTS trail; CREATE TABLE trail (seq bigserial)");
    for (boolean commit : List.of(true, false, true)) {
      try (Connection connection = database.connection()) {
        connection.setAutoCommit(false);
        Sql.execute(connection, "INSERT INTO trail DEFAULT VALUES");
        if (commit) {
          connection.commit();
        } else {
          connection.rollback();
        }
      }
    }

    assertThat(database.query("SELECT seq FROM trail ORDER BY seq", row -> row.getLong(1)))
        .containsExactly(1L, 3L);
  }
}
