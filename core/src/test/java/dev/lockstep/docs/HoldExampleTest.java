package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.LimitReached;
import dev.lockstep.hold.HoldOutcome.SoldOut;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.NewPool;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The README's example of a sale, run. */
class HoldExampleTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  // snippet: holds
  static final ScopeId SALE = new ScopeId(1);
  static final PoolId SHIRTS = new PoolId(7);

  static void open(Holds holds) {
    holds.createScope(SALE, OptionalInt.of(2)); // at most two for each buyer
    holds.createPools(SALE, List.of(NewPool.counted(SHIRTS, 100)));
  }

  /** Takes a shirt off the shelf for a quarter of an hour. The same key again: the same answer. */
  static CompletionStage<String> reserve(Holds holds, BuyerId buyer, String idempotencyKey) {
    HoldId id = HoldId.forKey(buyer, idempotencyKey);
    List<Line> cart = List.of(Line.of(SHIRTS, 1));
    return holds
        .submit(Acquire.of(SALE, id, buyer, cart, Duration.ofMinutes(15)))
        .thenApply(
            result -> {
              if (result instanceof Granted granted) {
                return "yours until " + granted.hold().expiresAt();
              }
              if (result instanceof LimitReached reached) {
                return "you have " + reached.used() + " of " + reached.limit();
              }
              return result instanceof SoldOut ? "sold out" : "not now: " + result;
            });
  }

  static void paid(Holds holds, BuyerId buyer, String idempotencyKey) {
    HoldId id = HoldId.forKey(buyer, idempotencyKey);
    holds.submit(new Confirm(SALE, id, Actor.operator("payments"))).toCompletableFuture().join();
  }

  // end: holds

  @Test
  void aBuyerReservesPaysAndMeetsTheLimit() {
    BuyerId ann = new BuyerId("ann");
    try (Holds holds = new Holds(new Transactor(database.dataSource()))) {
      open(holds);
      String first = reserve(holds, ann, "a").toCompletableFuture().join();
      assertThat(first).startsWith("yours until");
      assertThat(reserve(holds, ann, "a").toCompletableFuture().join()).isEqualTo(first);
      paid(holds, ann, "a");
      assertThat(reserve(holds, ann, "b").toCompletableFuture().join()).startsWith("yours until");
      assertThat(reserve(holds, ann, "c").toCompletableFuture().join())
          .isEqualTo("you have 2 of 2");
      assertThat(holds.pools(SALE).get(0).counts().free()).isEqualTo(98);
    }
  }
}
