package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** G10: every record of the stock agrees with every other, at every moment of a sale. */
class InvariantTest {
  private static final int CALLERS = 8;
  private static final int COMMANDS_EACH = 150;
  private static final int MIN_CHECKS = 30;

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private Shop shop;

  @BeforeEach
  void open() {
    shop = new Shop(database);
    shop.open();
  }

  @AfterEach
  void close() {
    shop.close();
  }

  @Test
  void allAgreesDuringAMixedLoadOnTwoNodesAndAfterIt() throws Exception {
    try (Load load = new Load(database)) {
      AtomicBoolean over = new AtomicBoolean();
      Background<List<StockReport>> full =
          Background.start(() -> checks(over, shop.audit::checkAll));
      Background<List<StockReport>> incremental =
          Background.start(() -> checks(over, shop.auditOn(database.dataSource())::checkChanged));
      try {
        Race.<Integer>of(CALLERS).run(caller -> load.run(caller, COMMANDS_EACH)).valuesOrThrow();
        load.tryEverything();
      } finally {
        over.set(true);
      }

      assertThat(full.result()).hasSizeGreaterThanOrEqualTo(MIN_CHECKS).allMatch(StockReport::ok);
      assertThat(incremental.result())
          .hasSizeGreaterThanOrEqualTo(MIN_CHECKS)
          .allMatch(StockReport::ok);
      assertThat(incremental.result())
          .as("there was something to look at meanwhile")
          .anyMatch(report -> report.changes() > 0);
      load.assertEverythingWasTried();
    }
    assertThat(shop.audit.checkChanged().violations()).isEmpty();
    assertThat(shop.audit.checkAll().violations()).isEmpty();
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.pool WHERE paused")).isZero();
  }

  @Test
  void aCheckWithoutOneSnapshotRaisesAFalseAlarmDuringASale() throws SQLException {
    try (Connection connection = duringASale().getConnection()) {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      long counted =
          Sql.query(connection, "SELECT held FROM lockstep.pool WHERE scope = 1 AND pool = 1");
      long inHolds =
          Sql.query(
              connection,
              """
              SELECT sum(l.quantity)
              FROM lockstep.hold h, unnest(h.pools, h.quantities) AS l (pool, quantity)
              WHERE h.scope = 1 AND h.state = 0 AND l.pool = 1""");

      assertThat(inHolds).isEqualTo(counted + 1);
    }
  }

  @Test
  void aCheckInOneSnapshotDoesNotMistakeASaleForAnError() {
    StockCheck audit = shop.auditOn(duringASale());

    assertThat(audit.checkAll().violations()).isEmpty();

    assertThat(database.queryLong("SELECT held FROM lockstep.pool WHERE scope = 1 AND pool = 1"))
        .as("the sale did happen meanwhile")
        .isEqualTo(4);
  }

  @Test
  void aCheckDoesNotWaitForASaleThatHasEverythingLocked() throws SQLException {
    try (Connection selling = database.connection()) {
      selling.setAutoCommit(false);
      Sql.execute(selling, "SELECT FROM lockstep.pool FOR UPDATE");
      Sql.execute(selling, "SELECT FROM lockstep.hold FOR UPDATE");

      assertThat(shop.audit.checkAll().violations()).isEmpty();
    }
  }

  private DataSource duringASale() {
    return Interleaved.beforeTheHoldsAreRead(
        database.dataSource(), () -> shop.buy(Shop.OPEN, Shop.COUNTED));
  }

  /**
   * StockInvariant upon check until the load is over, and a minimum of them however soon that is.
   */
  private static List<StockReport> checks(AtomicBoolean over, Supplier<StockReport> check) {
    List<StockReport> reports = new ArrayList<>();
    while (!over.get() || reports.size() < MIN_CHECKS) {
      reports.add(check.get());
    }
    return reports;
  }
}
