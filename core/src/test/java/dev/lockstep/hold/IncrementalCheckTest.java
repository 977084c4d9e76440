package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.Paused;
import dev.lockstep.hold.StockViolation.StockInvariant;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the frequent check looks at, what it leaves to the full one, and what it remembers. */
class IncrementalCheckTest {
  private static final String CLEAR_AN_OWNER =
      """
      UPDATE lockstep.unit SET hold = NULL
      WHERE scope = 1 AND pool = 2
        AND unit = (SELECT min(unit) FROM lockstep.unit WHERE scope = 1 AND hold IS NOT NULL)""";

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private Shop shop;

  @BeforeEach
  void open() {
    shop = new Shop(database);
    shop.open();
    shop.backUp();
  }

  @AfterEach
  void close() {
    shop.close();
  }

  @Test
  void theFirstCheckLooksAtEveryPoolAndTheNextAtNone() {
    assertLookedAt(shop.audit.checkChanged(), Shop.POOLS, Shop.CHANGES);
    assertLookedAt(shop.audit.checkChanged(), 0, 0);
    assertLookedAt(shop.audit.checkAll(), Shop.POOLS, Shop.CHANGES);
    assertLookedAt(shop.audit.checkChanged(), 0, 0);
  }

  @Test
  void afterASaleOnlyItsPoolAndItsNewAuditRowsAreLookedAt() {
    shop.audit.checkChanged();

    shop.buy(Shop.OPEN, Shop.UNITS);
    shop.buy(Shop.OPEN, Shop.UNITS);

    assertLookedAt(shop.audit.checkChanged(), 1, 2);
    shop.release(Shop.LIMITED, Shop.ALICES);
    assertLookedAt(shop.audit.checkChanged(), 2, 2);
  }

  @Test
  void whenTheCheckWasMadeIsTakenFromTheDatabasesClock() {
    StockReport report = shop.audit.checkAll();

    assertThat(
            database.queryLong(
                "SELECT count(*) WHERE ?::timestamptz BETWEEN now() - interval '1 h' AND now()",
                report.checkedAt().toString()))
        .isEqualTo(1);
  }

  @Test
  void aCounterChangedByHandIsSeenAtOnceAlthoughNoAuditRowWasWritten() {
    shop.audit.checkChanged();
    shop.byHand(Corruption.HELD_COUNTER_TOO_HIGH.sql());

    StockReport report = shop.audit.checkChanged();

    assertThat(report.violations())
        .extracting(StockViolation::check)
        .contains(StockInvariant.HOLDS);
    assertThat(report.pools()).isEqualTo(1);
  }

  @Test
  void anAuditRowThatWasVerifiedIsReadAgainOnlyByTheFullCheck() {
    shop.audit.checkChanged();
    shop.byHand(Corruption.NEWEST_AUDIT_ROW_DELETED.sql());
    shop.buy(Shop.OPEN, Shop.COUNTED);

    assertThat(shop.audit.checkChanged().ok()).as("it begins at the mark").isTrue();
    assertThat(shop.audit.checkAll().violations())
        .extracting(StockViolation::detail)
        .containsExactly("audit row 6 does not begin where the one before it ended");
  }

  @Test
  void aUnitChangedByHandIsSeenWithTheNextSaleOfItsPoolOrByTheFullCheck() {
    shop.audit.checkChanged();
    shop.byHand(CLEAR_AN_OWNER);
    assertLookedAt(shop.audit.checkChanged(), 0, 0);

    shop.buy(Shop.OPEN, Shop.UNITS);

    assertThat(shop.audit.checkChanged().violations())
        .extracting(StockViolation::check)
        .containsExactly(StockInvariant.UNITS);
  }

  @Test
  void whatTheFullCheckFoundTheIncrementalOneReportsUntilItIsMended() {
    shop.audit.checkChanged();
    shop.byHand(CLEAR_AN_OWNER);
    List<StockViolation> found = shop.audit.checkAll().violations();
    assertThat(found).isNotEmpty();

    assertThat(shop.audit.checkChanged().violations()).isEqualTo(found);
    assertThat(shop.audit.checkChanged().violations()).isEqualTo(found);
    shop.mend();

    StockReport mended = shop.audit.checkChanged();
    assertThat(mended.ok()).isTrue();
    assertThat(mended.changes()).as("a mended pool is read from its first row").isEqualTo(5);
    assertLookedAt(shop.audit.checkChanged(), 0, 0);
  }

  @Test
  void aPoolThatIsResumedWithoutBeingMendedIsPausedAgain() {
    shop.byHand(CLEAR_AN_OWNER);
    shop.audit.checkChanged();
    shop.holds.resume(Shop.OPEN, Shop.UNITS);
    assertThat(shop.buy(Shop.OPEN, Shop.UNITS)).isInstanceOf(Granted.class);

    shop.audit.checkChanged();

    assertThat(shop.buy(Shop.OPEN, Shop.UNITS)).isInstanceOf(Paused.class);
  }

  @Test
  void aNewPoolIsLookedAtBeforeAnythingIsSoldFromIt() {
    shop.audit.checkChanged();
    PoolId fresh = new PoolId(4);
    shop.holds.createPools(Shop.OPEN, List.of(NewPool.ofUnits(fresh, 20, Shop.SHUFFLE)));
    shop.byHand("DELETE FROM lockstep.unit WHERE pool = 4 AND rank = 19");

    StockReport report = shop.audit.checkChanged();

    assertThat(report.violations())
        .containsExactly(
            new StockViolation(
                StockInvariant.UNITS, Shop.OPEN.value(), 4, "19 units instead of 20"));
    assertThat(shop.buy(Shop.OPEN, fresh)).isInstanceOf(Paused.class);
  }

  @Test
  void severalNodesCheckAtOnceAndAllFindTheSame() throws InterruptedException {
    shop.byHand(CLEAR_AN_OWNER);

    List<StockReport> reports =
        Race.<StockReport>of(6)
            .run(
                node -> {
                  StockCheck audit = shop.auditOn(database.dataSource());
                  return node % 2 == 0 ? audit.checkAll() : audit.checkChanged();
                })
            .valuesOrThrow();

    assertThat(reports.stream().map(StockReport::violations).distinct()).hasSize(1);
    assertThat(reports.get(0).violations())
        .extracting(StockViolation::check)
        .containsExactly(StockInvariant.UNITS);
    assertThat(shop.buy(Shop.OPEN, Shop.UNITS)).isInstanceOf(Paused.class);
    assertThat(shop.audit.checkChanged().ok()).as("none has passed it").isFalse();
  }

  @Test
  void aCheckThatLookedEarlierDoesNotTakeAMarkBack() {
    // Its snapshot is from before the sale, and it ends after another check has seen the sale.
    StockCheck slow =
        shop.auditOn(
            Interleaved.beforeTheHoldsAreRead(
                database.dataSource(),
                () -> {
                  shop.buy(Shop.OPEN, Shop.COUNTED);
                  assertThat(shop.audit.checkAll().ok()).isTrue();
                }));

    assertThat(slow.checkAll().ok()).isTrue();

    assertLookedAt(shop.audit.checkChanged(), 0, 0);
  }

  @Test
  void aCheckThatLookedEarlierDoesNotPassWhatAnotherFoundBroken() {
    shop.audit.checkAll();
    StockCheck slow =
        shop.auditOn(
            Interleaved.beforeTheHoldsAreRead(
                database.dataSource(),
                () -> {
                  shop.byHand(CLEAR_AN_OWNER);
                  assertThat(shop.audit.checkAll().ok()).isFalse();
                }));

    assertThat(slow.checkAll().ok()).as("in its snapshot all was well").isTrue();

    assertThat(shop.audit.checkChanged().ok()).isFalse();
  }

  @Test
  void aPoolThatCannotBePausedKeepsNoOtherFromBeingPaused() {
    shop.byHand(CLEAR_AN_OWNER);
    shop.byHand(Corruption.QUANTITY_OF_A_HOLD.sql());
    Set<Long> paused = new ConcurrentSkipListSet<>();
    StockCheck audit =
        new StockCheck(
            new Transactor(database.dataSource()),
            violation -> {
              if (violation.pool() == Shop.COUNTED.value()) {
                throw new IllegalStateException("cannot pause");
              }
              paused.add(violation.pool());
            });

    assertThatThrownBy(audit::checkAll).hasMessage("cannot pause");

    assertThat(paused).containsExactly(Shop.UNITS.value());
    assertThat(shop.audit.checkChanged().violations())
        .extracting(StockViolation::pool)
        .containsExactlyInAnyOrder(Shop.COUNTED.value(), Shop.UNITS.value());
  }

  private static void assertLookedAt(StockReport report, int pools, long changes) {
    assertThat(report.violations()).isEmpty();
    assertThat(report.pools()).isEqualTo(pools);
    assertThat(report.changes()).isEqualTo(changes);
  }
}
