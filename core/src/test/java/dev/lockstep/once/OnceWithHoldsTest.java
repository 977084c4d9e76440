package dev.lockstep.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.combine.TripWriter;
import dev.lockstep.hold.AcquireResult;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.SoldOut;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.NewPool;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.once.Claim.Answered;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two blocks composed: a hold and the key of the request for it, in one transaction. */
class OnceWithHoldsTest {
  private static final PoolId SEATS = new PoolId(1);
  private static final BuyerId ALICE = new BuyerId("alice");
  private static final AtomicLong scopes = new AtomicLong();

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private final ScopeId scope = new ScopeId(scopes.incrementAndGet());
  private Shop shop;
  private Shop secondNode;

  @BeforeEach
  void aShopOnTwoNodes() {
    shop = new Shop();
    secondNode = new Shop();
    shop.holds.createScope(scope, OptionalInt.empty());
    shop.holds.createPools(scope, List.of(NewPool.counted(SEATS, 5)));
  }

  @AfterEach
  void close() {
    shop.holds.close();
    secondNode.holds.close();
  }

  @Test
  void theHoldAndItsKeyAreWrittenTogetherAndAReplayFindsTheStoredAnswer() {
    String answer = shop.buy("order-1", 2);

    assertThat(shop.stored("order-1", 2)).isEqualTo(new Answered(answer));
    assertThat(shop.buy("order-1", 2)).isEqualTo(answer);
    assertThat(secondNode.buy("order-1", 2)).isEqualTo(answer);
    assertThat(held()).isEqualTo(2);
  }

  @Test
  void aRequestSentToTwoNodesManyTimesAtOnceHoldsOnceAndIsAnsweredAlike() throws Exception {
    List<String> answers =
        Race.<String>of(30)
            .run(caller -> (caller % 2 == 0 ? shop : secondNode).buy("order-1", 1))
            .valuesOrThrow();

    assertThat(answers.stream().distinct()).hasSize(1);
    assertThat(held()).isEqualTo(1);
    assertThat(keys()).isEqualTo(1);
  }

  @Test
  void anotherRequestWithTheKeyIsRefusedAndHoldsNothing() {
    shop.buy("order-1", 1);

    assertThat(shop.buy("order-1", 2)).isEqualTo("key reused");
    assertThat(held()).isEqualTo(1);
  }

  @Test
  void aRefusedPurchaseKeepsNoKeyAndMaySucceedLater() {
    assertThat(shop.buy("order-1", 6)).isEqualTo("sold out");
    assertThat(keys()).isZero();

    database.execute("UPDATE lockstep.pool SET total = 6 WHERE scope = " + scope.value());

    assertThat(shop.buy("order-1", 6)).startsWith("hold ");
  }

  @Test
  void aKeyThatCannotBeWrittenMeansThatNothingIsHeldEither() {
    shop.receiptPrefix = "x".repeat(OnceConfig.DEFAULT.maxAnswerLength());
    assertThatThrownBy(() -> shop.buy("order-1", 1))
        .hasCauseInstanceOf(IllegalArgumentException.class);

    assertThat(held()).isZero();
    assertThat(keys()).isZero();
    shop.receiptPrefix = "hold ";
    assertThat(shop.buy("order-1", 1)).startsWith("hold ");
  }

  private long held() {
    return database.queryLong("SELECT held FROM lockstep.pool WHERE scope = ?", scope.value());
  }

  private long keys() {
    return database.queryLong("SELECT count(*) FROM lockstep.once WHERE scope = ?", scope.value());
  }

  /** What travels with a purchase into the transaction that decides it. */
  private record Receipt(OnceKey key, Fingerprint request) {}

  private final class Shop {
    private final Transactor transactor = new Transactor(database.dataSource());
    private final Once once = new Once(transactor);
    private final Holds holds = new Holds(transactor);
    private volatile String receiptPrefix = "hold ";

    // Repetitions within the batch come with replayed grants; their key is the first one's.
    private final TripWriter<Receipt, HoldOutcome> receipts =
        (exchange, outcomes) -> {
          List<OnceEntry> entries = new ArrayList<>();
          outcomes.forEach(
              each -> {
                if (each.outcome() instanceof Granted granted && !granted.replayed()) {
                  Receipt receipt = each.payload();
                  entries.add(new OnceEntry(receipt.key(), receipt.request(), answerTo(granted)));
                }
              });
          once.record(exchange.connection(), scope.value(), entries);
        };

    /** The hold's id comes from the key, so twins that both find nothing take one hold. */
    String buy(String key, int quantity) {
      Claim known = stored(key, quantity);
      if (known instanceof Answered answered) {
        return answered.answer();
      }
      if (known instanceof Claim.Reused) {
        return "key reused";
      }
      Acquire acquire =
          Acquire.of(
              scope,
              HoldId.forKey(ALICE, key),
              ALICE,
              List.of(Line.of(SEATS, quantity)),
              Duration.ofMinutes(15));
      AcquireResult outcome =
          holds
              .submit(acquire, receipts, new Receipt(keyOf(key), request(quantity)))
              .toCompletableFuture()
              .join()
              .outcome();
      if (outcome instanceof SoldOut) {
        return "sold out";
      }
      return ((Answered) stored(key, quantity)).answer();
    }

    Claim stored(String key, int quantity) {
      return transactor.call(
          connection ->
              once.find(connection, scope.value(), Map.of(keyOf(key), request(quantity)))
                  .getOrDefault(keyOf(key), new Claim.Fresh(keyOf(key), Instant.EPOCH)));
    }

    private OnceKey keyOf(String key) {
      return new OnceKey(scope.value(), ALICE.value(), key);
    }

    private Fingerprint request(int quantity) {
      return Fingerprint.of("POST", "/holds", Integer.toString(quantity));
    }

    private String answerTo(Granted granted) {
      return receiptPrefix + granted.hold().id();
    }
  }
}
