package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.sql.IndexLookups;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Listing a scope's holds and units: each once, at the price of what is listed. */
class HoldListTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final int PAGE = 4;

  @Test
  void pagesShowEveryHoldOnceTheNewestFirstAlsoThoseOfOneMoment() {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(100);
    for (int i = 0; i < 3; i++) {
      String buyer = "buyer-" + i;
      sale.transactor()
          .run(
              connection ->
                  sale.node()
                      .runAll(
                          connection,
                          List.of(
                              sale.acquire(buyer, Line.of(pool, 1)),
                              sale.acquire(buyer, Line.of(pool, 1)),
                              sale.acquire(buyer, Line.of(pool, 1)))));
    }
    Hold sold = sale.hold("buyer-1", Line.of(pool, 1));
    sale.ask(sale.confirm(sold.id()));

    List<Hold> all = pages(sale, Optional.empty(), Optional.empty());

    assertThat(all).hasSize(10).doesNotHaveDuplicates();
    assertThat(all)
        .isSortedAccordingTo(
            Comparator.comparing(Hold::createdAt).thenComparing(Hold::id).reversed());
    assertThat(all.get(0).id()).isEqualTo(sold.id());
    assertThat(pages(sale, Optional.of(new BuyerId("buyer-1")), Optional.empty())).hasSize(4);
    assertThat(pages(sale, Optional.empty(), Optional.of(HoldState.HELD))).hasSize(9);
    assertThat(pages(sale, Optional.of(sold.buyer()), Optional.of(HoldState.SOLD)))
        .containsExactly(sale.find(sold.id()));
  }

  private static List<Hold> pages(Sale sale, Optional<BuyerId> buyer, Optional<HoldState> state) {
    List<Hold> all = new ArrayList<>();
    List<Hold> page;
    do {
      Optional<HoldId> after =
          all.isEmpty() ? Optional.empty() : Optional.of(all.get(all.size() - 1).id());
      page = sale.node().list(sale.scope(), new HoldFilter(buyer, state, after), PAGE);
      all.addAll(page);
    } while (page.size() == PAGE);
    return all;
  }

  @Test
  void aPageReadsAsManyRowsAsItHasAndNotTheWholeScope() throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(1);
    Hold newest = sale.hold("buyer", Line.of(pool, 1));
    database.execute(
        """
        INSERT INTO lockstep.hold (scope, hold, buyer, fingerprint, state, created_at, expires_at,
          ended_at, ended_by, pools, quantities)
        SELECT %d, gen_random_uuid(), 'b' || i, 0, 3, now() - i * interval '1 second', now(), now(),
          'expiry', '{}', '{}' FROM generate_series(1, 5000) AS i"""
            .formatted(sale.scope().value()));
    database.execute("ANALYZE lockstep.hold");

    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      long before = rowsRead(connection, "hold");
      HoldFilter behind =
          new HoldFilter(
              Optional.empty(), Optional.of(HoldState.EXPIRED), Optional.of(newest.id()));
      assertThat(HoldQueries.page(connection, sale.scope(), HoldFilter.ALL, 50)).hasSize(50);
      assertThat(HoldQueries.page(connection, sale.scope(), behind, 50)).hasSize(50);
      assertThat(rowsRead(connection, "hold") - before).isBetween(100L, 200L);
      connection.rollback();
    }
  }

  @Test
  void takenUnitsAreReadOnceEachAlsoBetweenLookUpsByKey() throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(60);
    List<HoldId> sold = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      Hold hold = sale.hold("buyer-" + i, Line.of(pool, 1));
      sale.ask(sale.confirm(hold.id()));
      sold.add(hold.id());
    }
    Hold held = sale.hold("buyer-x", Line.of(pool, 1));
    database.execute("ANALYZE lockstep.hold");
    database.execute("ANALYZE lockstep.unit");

    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      long unitsBefore = rowsRead(connection, "unit");
      long holdsBefore = rowsRead(connection, "hold");
      List<TakenUnit> taken =
          IndexLookups.during(connection, own -> HoldQueries.takenUnits(own, sale.scope()));
      assertThat(taken).extracting(TakenUnit::unit).hasSize(51).doesNotHaveDuplicates();
      assertThat(taken)
          .filteredOn(unit -> unit.state() == HoldState.SOLD)
          .extracting(TakenUnit::hold)
          .containsExactlyInAnyOrderElementsOf(sold);
      assertThat(taken)
          .filteredOn(unit -> unit.state() == HoldState.HELD)
          .extracting(TakenUnit::hold)
          .containsExactly(held.id());
      // Versions that are not gone yet are counted, too; every hold with every unit would be 3,000.
      assertThat(rowsRead(connection, "unit") - unitsBefore).isBetween(51L, 300L);
      assertThat(rowsRead(connection, "hold") - holdsBefore).isBetween(51L, 300L);
      connection.rollback();
    }
  }

  /** Of a table; what this session has not reported to the statistics yet is counted, too. */
  private static long rowsRead(Connection connection, String table) throws SQLException {
    try (var statement = connection.createStatement();
        var row =
            statement.executeQuery(
                "SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)"
                    + " FROM pg_stat_xact_user_tables"
                    + " WHERE schemaname = 'lockstep' AND relname = '"
                    + table
                    + "'")) {
      row.next();
      return row.getLong(1);
    }
  }
}
