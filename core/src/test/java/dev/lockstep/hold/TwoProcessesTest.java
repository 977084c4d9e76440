package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two servers on one database; one of them is killed and the other sells on. */
class TwoProcessesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final int EACH = 1_500;

  @Test
  void whenOneIsKilledNothingIsLostOrDoubledAndTheOtherSellsToTheLastUnit() throws Exception {
    Sale sale = fixture.saleWithLimit(10_000);
    List<PoolId> pools = List.of(sale.units(EACH), sale.counted(EACH));
    try (ChildJvm victim = SellingProcess.start(database, sale.scope());
        ChildJvm survivor = SellingProcess.start(database, sale.scope())) {
      SellingProcess.go(victim);
      SellingProcess.go(survivor);
      SellingProcess.awaitGrants(survivor, 1);
      SellingProcess.awaitGrants(victim, 100);
      victim.kill();
      SellingProcess.awaitDone(survivor);

      assertThat(survivor.awaitExit()).isZero();
      for (PoolId pool : pools) {
        assertThat(sale.counts(pool)).isEqualTo(new PoolCounts(pool, EACH, EACH, 0));
      }
      assertEveryPromiseIsKept(
          SellingProcess.granted(victim), SellingProcess.granted(survivor), held(sale));
    }
  }

  private static void assertEveryPromiseIsKept(
      List<HoldId> victims, List<HoldId> survivors, Set<HoldId> held) {
    List<HoldId> promised = new ArrayList<>(victims);
    promised.addAll(survivors);
    assertThat(promised).doesNotHaveDuplicates();
    assertThat(held).containsAll(promised).hasSize(2 * EACH);
    // What the victim was granted and could not tell: no more than one for each of its callers.
    assertThat(held.size() - promised.size()).isBetween(0, 8);
    assertThat(victims).as("killed in the middle").hasSizeBetween(100, 2 * EACH - 1);
  }

  private static Set<HoldId> held(Sale sale) {
    return new HashSet<>(
        database.query(
            "SELECT hold::text FROM lockstep.hold WHERE scope = ? AND state = 0",
            row -> HoldId.of(row.getString(1)),
            sale.scope().value()));
  }
}
