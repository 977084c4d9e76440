package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.Paused;
import dev.lockstep.testkit.TestDatabase;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** G10: whatever a hand breaks is found, named, and stops the sale of what it concerns. */
class CorruptionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static Shop shop;

  @BeforeAll
  static void aShop() {
    shop = new Shop(database);
  }

  @AfterAll
  static void close() {
    shop.close();
  }

  @BeforeEach
  void open() {
    shop.open();
    shop.backUp();
    assertThat(shop.audit.checkAll().violations()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void aCorruptionIsFoundAndNamedAndPausesItsPoolsUntilItIsMended(Corruption corruption) {
    shop.byHand(corruption.sql());

    StockReport report = shop.audit.checkAll();

    assertNamed(report.violations(), corruption);
    Set<Long> broken = poolsOf(corruption);
    assertPaused(corruption.scope(), broken, report.violations());
    assertEverythingElseSells(corruption.scope(), broken);

    // Found again, and by the incremental check too, although nothing has changed since.
    assertNamed(shop.audit.checkChanged().violations(), corruption);
    assertNamed(shop.audit.checkChanged().violations(), corruption);

    mend(corruption);
    assertThat(shop.audit.checkChanged().violations()).isEmpty();
    for (long pool : broken) {
      shop.holds.resume(corruption.scope(), new PoolId(pool));
      assertThat(shop.buy(corruption.scope(), new PoolId(pool))).isInstanceOf(Granted.class);
    }
    assertThat(shop.audit.checkChanged().ok()).isTrue();
    assertThat(shop.audit.checkAll().ok()).isTrue();
  }

  /** The pool that others keep buying from has no backup; what broke it is put right by hand. */
  private static void mend(Corruption corruption) {
    shop.mend();
    if (corruption == Corruption.COUNTER_OF_A_POOL_NOBODY_TOUCHED) {
      shop.byHand("UPDATE lockstep.pool SET sold = 0 WHERE scope = 1 AND pool = 3");
    }
  }

  private static void assertNamed(List<StockViolation> found, Corruption corruption) {
    List<StockViolation> general =
        found.stream()
            .map(v -> new StockViolation(v.check(), v.scope(), v.pool(), withoutUnit(v.detail())))
            .toList();
    assertThat(general).containsExactlyInAnyOrderElementsOf(corruption.violations());
  }

  private static String withoutUnit(String detail) {
    return detail.replaceAll("the first is unit \\d+", "the first is unit *");
  }

  private static Set<Long> poolsOf(Corruption corruption) {
    return corruption.violations().stream().map(StockViolation::pool).collect(Collectors.toSet());
  }

  private static void assertPaused(ScopeId scope, Set<Long> broken, List<StockViolation> found) {
    for (long pool : broken) {
      List<String> reasons =
          found.stream().filter(v -> v.pool() == pool).map(StockViolation::detail).toList();
      assertThat(shop.buy(scope, new PoolId(pool)))
          .isInstanceOfSatisfying(
              Paused.class,
              paused -> {
                assertThat(paused.pool()).isEqualTo(new PoolId(pool));
                assertThat(reasons).contains(paused.reason());
              });
    }
  }

  private static void assertEverythingElseSells(ScopeId brokenScope, Set<Long> broken) {
    for (ScopeId scope : List.of(Shop.OPEN, Shop.LIMITED)) {
      if (!scope.equals(brokenScope) || !broken.contains(Shop.QUIET.value())) {
        assertThat(shop.buy(scope, Shop.QUIET)).isInstanceOf(Granted.class);
      }
    }
  }
}
