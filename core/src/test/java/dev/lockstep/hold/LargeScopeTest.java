package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.StockViolation.StockInvariant;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Transactor;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** G10 of a scope too large for one snapshot: whatever is small here is gone through two by two. */
class LargeScopeTest {
  private static final int CALLERS = 6;
  private static final int COMMANDS_EACH = 100;
  private static final int MIN_CHECKS = 8;

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private Shop shop;
  private StockCheck audit;

  @BeforeEach
  void open() {
    shop = new Shop(database);
    shop.open();
    shop.backUp();
    audit = inSlicesOf(2);
  }

  @AfterEach
  void close() {
    shop.close();
  }

  private StockCheck inSlicesOf(int rows) {
    return new StockCheck(
        new Transactor(database.dataSource()),
        v -> shop.holds.pause(new ScopeId(v.scope()), new PoolId(v.pool()), v.detail()),
        0,
        rows);
  }

  @ParameterizedTest
  @EnumSource
  void aCorruptionIsFoundInItsPoolsAndAgainUntilItIsMended(Corruption corruption) {
    assertThat(audit.checkAll().violations()).isEmpty();
    shop.byHand(corruption.sql());

    List<StockViolation> found = audit.checkAll().violations();

    assertThat(pools(found)).isEqualTo(pools(corruption.violations()));
    assertThat(found)
        // In slices a row is also compared with its hold.
        .filteredOn(one -> !one.detail().endsWith("does not match its hold"))
        .allSatisfy(
            one ->
                assertThat(corruption.violations())
                    .extracting(expected -> expected.check() + " " + expected.pool())
                    .contains(one.check() + " " + one.pool()));
    assertThat(pools(audit.checkChanged().violations())).isEqualTo(pools(found));
    shop.mend();
    if (corruption == Corruption.COUNTER_OF_A_POOL_NOBODY_TOUCHED) {
      shop.byHand("UPDATE lockstep.pool SET sold = 0 WHERE scope = 1 AND pool = 3");
    }
    assertThat(audit.checkChanged().violations()).isEmpty();
    assertThat(audit.checkAll().violations()).isEmpty();
  }

  @Test
  void aHoldThatIsNotWhatItsNewAuditRowSaysIsSeenByTheIncrementalCheck() {
    audit.checkChanged();
    shop.release(Shop.OPEN, Shop.ALICES);
    shop.byHand(
        "UPDATE lockstep.hold SET quantities[1] = 9 WHERE scope = 1 AND hold = '%s'"
            .formatted(Shop.ALICES.value()));

    assertThat(audit.checkChanged().violations())
        .containsExactly(
            new StockViolation(
                StockInvariant.HOLDS, Shop.OPEN.value(), 1, "audit row 6 does not match its hold"));
  }

  @Test
  void whatComesBackInPartsAgrees() {
    Actor clerk = Actor.operator("clerk");
    shop.holds.call(new Confirm(Shop.OPEN, Shop.ALICES, clerk));
    audit.checkChanged();
    // Alice has three of one pool and two of the other; the last parts end her hold.
    for (Line part :
        List.of(
            Line.of(Shop.COUNTED, 1),
            Line.of(Shop.UNITS, 2),
            Line.of(Shop.COUNTED, 1),
            Line.of(Shop.COUNTED, 1))) {
      shop.holds.call(new Return(Shop.OPEN, Shop.ALICES, clerk, List.of(part)));

      assertThat(audit.checkChanged().violations()).isEmpty();
      assertThat(audit.checkAll().violations()).isEmpty();
    }
    shop.byHand(
        "UPDATE lockstep.hold SET quantities[1] = 1 WHERE scope = 1 AND hold = '%s'"
            .formatted(Shop.BOBS.value()));
    assertThat(pools(audit.checkAll().violations())).containsExactly(1L);
  }

  @Test
  void allAgreesInSlicesDuringAMixedLoad() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    try (Load load = new Load(database)) {
      Background<List<StockReport>> checks =
          Background.start(
              () -> {
                List<StockReport> reports = new ArrayList<>();
                while (!over.get() || reports.size() < MIN_CHECKS) {
                  reports.add(inSlicesOf(7).checkAll());
                  reports.add(inSlicesOf(7).checkChanged());
                }
                return reports;
              });
      try {
        Race.<Integer>of(CALLERS).run(caller -> load.run(caller, COMMANDS_EACH)).valuesOrThrow();
      } finally {
        over.set(true);
      }
      assertThat(checks.result()).allSatisfy(report -> assertThat(report.violations()).isEmpty());
    }
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.pool WHERE paused")).isZero();
  }

  @Test
  void anInterruptEndsItBetweenTwoSlices() {
    assertThatThrownBy(
            () ->
                audit.checkAll(
                    soFar -> {
                      if (soFar.slices() == 3) {
                        Thread.currentThread().interrupt();
                      }
                    }))
        .isInstanceOf(CancellationException.class);
    assertThat(Thread.interrupted()).isTrue();
  }

  private static Set<Long> pools(List<StockViolation> violations) {
    return violations.stream().map(StockViolation::pool).collect(Collectors.toSet());
  }
}
