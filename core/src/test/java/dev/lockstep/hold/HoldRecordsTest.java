package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

import dev.lockstep.hold.HoldRecords.ByAge;
import dev.lockstep.hold.HoldRecords.HoldChange;
import dev.lockstep.hold.HoldRecords.NewestChange;
import dev.lockstep.hold.StockChange.Cause;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many holds and changes at once: what single look-ups say, and each once. */
class HoldRecordsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final HoldId NONE = new HoldId(new UUID(0, 0));

  @Test
  void holdsOfSeveralScopesAreFoundByTheirIds() throws SQLException {
    Sale one = fixture.sale();
    Sale other = fixture.sale();
    PoolId units = one.units(5);
    Hold first = one.hold("alice", Line.of(units, 2), Line.of(one.counted(9), 3));
    Hold second = one.hold("bob", Line.of(units, 1));
    Hold elsewhere = other.hold("carol", Line.of(other.counted(5), 1));
    one.hold("dave", Line.of(units, 1));
    one.ask(one.confirm(second.id()));

    try (Connection connection = database.connection()) {
      assertThat(
              HoldRecords.find(
                  connection,
                  Map.of(
                      one.scope(), List.of(first.id(), second.id(), elsewhere.id(), NONE),
                      other.scope(), List.of(elsewhere.id()))))
          .containsExactlyInAnyOrder(
              one.find(first.id()), one.find(second.id()), other.find(elsewhere.id()));
      assertThat(HoldRecords.find(connection, Map.of())).isEmpty();
    }
  }

  @Test
  void pagesByAgeShowEveryHoldOnceAlsoThoseOfOneMoment() throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = sale.counted(100);
    List<HoldCommand<?>> together = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      together.add(sale.acquire("buyer", Line.of(pool, 1)));
    }
    sale.transactor().run(connection -> sale.node().joinAll(connection, together));
    Hold sold = sale.hold("buyer", Line.of(pool, 1));
    sale.ask(sale.confirm(sold.id()));

    List<ByAge> all = new ArrayList<>();
    try (Connection connection = database.connection()) {
      ByAge last = new ByAge(Instant.EPOCH, NONE, HoldState.HELD);
      List<ByAge> page;
      do {
        page = HoldRecords.oldestFirst(connection, sale.scope(), last.createdAt(), last.id(), 3);
        all.addAll(page);
        last = page.isEmpty() ? last : page.get(page.size() - 1);
      } while (!page.isEmpty());
    }

    List<Hold> newestFirst = new ArrayList<>();
    newestFirst.addAll(sale.node().list(sale.scope(), HoldFilter.ALL, 100));
    Collections.reverse(newestFirst);
    assertThat(all)
        .extracting(ByAge::id, ByAge::createdAt, ByAge::state)
        .containsExactlyElementsOf(
            newestFirst.stream()
                .map(hold -> tuple(hold.id(), hold.createdAt(), hold.state()))
                .toList());
    assertThat(all.get(7).state()).isEqualTo(HoldState.SOLD);
  }

  @Test
  void changesAreThoseOfTheAuditAndTheNewestIsKnownOfEveryPool() throws SQLException {
    Sale sale = fixture.sale();
    PoolId busy = sale.counted(9);
    PoolId quiet = sale.counted(9);
    Hold hold = sale.hold("alice", Line.of(busy, 1));
    sale.ask(sale.confirm(hold.id()));

    try (Connection connection = database.connection()) {
      assertThat(HoldRecords.changes(connection, sale.scope(), busy, 0, 100))
          .containsExactly(
              new HoldChange(1, hold.id(), Cause.ACQUIRED),
              new HoldChange(2, hold.id(), Cause.SOLD));
      assertThat(HoldRecords.changes(connection, sale.scope(), busy, 1, 100)).hasSize(1);
      assertThat(
              HoldRecords.newestChanges(connection, sale.scope(), new PoolId(busy.value() - 1), 2))
          .containsExactly(
              new NewestChange(sale.scope(), busy, 2), new NewestChange(sale.scope(), quiet, 0));
      assertThat(HoldRecords.newestChanges(connection, sale.scope(), busy, 1))
          .containsExactly(new NewestChange(sale.scope(), quiet, 0));
    }
  }

  @Test
  void aReadHasABound() throws SQLException {
    try (Connection connection = database.connection()) {
      assertThatIllegalArgumentException()
          .isThrownBy(
              () ->
                  HoldRecords.changes(
                      connection, new ScopeId(1), new PoolId(1), 0, HoldRecords.MAX_ROWS + 1));
      assertThatIllegalArgumentException()
          .isThrownBy(
              () ->
                  HoldRecords.find(
                      connection,
                      Map.of(new ScopeId(1), Collections.nCopies(HoldRecords.MAX_ROWS + 1, NONE))));
    }
  }
}
