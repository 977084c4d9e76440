package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.SoldOut;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.testkit.TransactionPooler;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nothing rests on a session: a sale through PgBouncer in transaction mode. */
class HoldsThroughPoolerTest {
  private static final ScopeId SCOPE = new ScopeId(1);
  private static final PoolId POOL = new PoolId(1);

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  @Test
  void twoNodesSellExactlyWhatThereIs() {
    int stock = 100;
    try (TransactionPooler pooler = TransactionPooler.start(database);
        Holds one = new Holds(new Transactor(pooler.dataSource()));
        Holds other = new Holds(new Transactor(pooler.dataSource()))) {
      one.createScope(SCOPE, OptionalInt.of(1));
      one.createPools(SCOPE, List.of(NewPool.counted(POOL, stock)));
      List<CompletableFuture<HoldOutcome>> asked = new ArrayList<>();
      for (int i = 0; i < stock + 50; i++) {
        asked.add(acquire(i % 2 == 0 ? one : other, "buyer " + i));
      }
      List<HoldOutcome> outcomes = asked.stream().map(CompletableFuture::join).toList();

      assertThat(outcomes).filteredOn(Granted.class::isInstance).hasSize(stock);
      assertThat(outcomes).filteredOn(SoldOut.class::isInstance).hasSize(50);
      for (HoldOutcome outcome : outcomes) {
        if (outcome instanceof Granted granted) {
          other.call(new Confirm(SCOPE, granted.hold().id(), Actor.operator("test")));
        }
      }
      assertThat(database.queryLong("SELECT sold FROM lockstep.pool WHERE held = 0"))
          .isEqualTo(stock);
    }
  }

  private static CompletableFuture<HoldOutcome> acquire(Holds holds, String name) {
    BuyerId buyer = new BuyerId(name);
    return holds
        .submit(
            Acquire.of(
                SCOPE,
                HoldId.forKey(buyer, "once"),
                buyer,
                List.of(Line.of(POOL, 1)),
                Duration.ofMinutes(10)))
        .thenApply(result -> (HoldOutcome) result)
        .toCompletableFuture();
  }
}
