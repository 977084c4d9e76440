package dev.lockstep.server.purchase;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.Companion;
import dev.lockstep.combine.CompanionResult;
import dev.lockstep.combine.CompanionResult.RolledBack;
import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Extend;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.NewPool;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.campaign.CampaignKind;
import dev.lockstep.server.campaign.HoldTimes;
import dev.lockstep.server.campaign.Item;
import dev.lockstep.server.payment.IntentId;
import dev.lockstep.server.payment.Money;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two steps of one purchase may meet in one batch: an answer, an event and a timer all lead to one.
 * Every pair, in both orders and from every state, ends as if one had come after the other.
 */
@Timeout(120)
class TwoStepsOfOnePurchaseTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final ScopeId SALE = new ScopeId(1);
  private static final PoolId POOL = new PoolId(1);
  private static final BuyerId BUYER = new BuyerId("b");
  private static final IntentId INTENT = new IntentId("pi_1");
  private static final Money PRICE = new Money(500, "JPY");
  private static final Campaign CAMPAIGN =
      new Campaign(
          SALE.value(),
          CampaignKind.DROP,
          "A drop",
          "JPY",
          OptionalInt.empty(),
          new HoldTimes(900, 1, 1_800),
          List.of(new Item(POOL, CampaignKind.DROP, "A", "Thing", 500, 100_000)),
          List.of(),
          dev.lockstep.server.campaign.CampaignStatus.PUBLISHED,
          Optional.empty(),
          false,
          new Campaign.Times(Instant.EPOCH, Optional.of(Instant.EPOCH), Instant.EPOCH));
  private static final StepCompanion COMPANION =
      new StepCompanion(Duration.ofSeconds(10), (exchange, sold) -> {});

  private static Holds holds;

  /** Where the purchase is when both steps are decided upon. */
  enum Start {
    UNPAID,
    PAID_LATE,
    REFUNDING
  }

  enum Kinds {
    COMPLETE,
    END,
    CHALLENGE,
    DECLINE,
    REPLACE,
    REFUND
  }

  /** What is left of it all, with nothing in it that differs from one purchase to the next. */
  record Left(
      PurchaseStatus status,
      boolean paid,
      int firstHold,
      int itsHold,
      boolean replaced,
      List<String> events,
      List<String> told) {}

  @BeforeAll
  static void openTheSale() {
    database.execute("CREATE SCHEMA lockstep_server");
    database.runScript("/db/server/V110__purchases.sql");
    database.runScript("/db/server/V225__payment_tries.sql");
    database.runScript("/db/server/V226__partial_refunds.sql");
    holds = new Holds(new Transactor(database.dataSource()));
    holds.createScope(SALE, OptionalInt.empty());
    holds.createPools(SALE, List.of(NewPool.counted(POOL, 100_000)));
  }

  @AfterAll
  static void close() {
    holds.close();
  }

  static Stream<Arguments> pairs() {
    List<Arguments> pairs = new ArrayList<>();
    for (Start start : Start.values()) {
      for (Kinds first : Kinds.values()) {
        for (Kinds second : Kinds.values()) {
          pairs.add(Arguments.of(start, first, second));
        }
      }
    }
    return pairs.stream();
  }

  @ParameterizedTest(name = "{0}: {1} and {2}")
  @MethodSource("pairs")
  void inOneBatchEndAsIfOneHadComeAfterTheOther(Start start, Kinds first, Kinds second)
      throws Exception {
    Left together = run(start, first, second, true);

    assertThat(together)
        .isIn(run(start, first, second, false), reversed(run(start, second, first, false)));
    boolean sold = together.itsHold() == 1;
    assertThat(
            sold
                && !List.of(PurchaseStatus.COMPLETED, PurchaseStatus.REFUNDING)
                    .contains(together.status()))
        .as("goods without a purchase that says so: " + together)
        .isFalse();
    assertThat(together.status() == PurchaseStatus.COMPLETED && !sold)
        .as("a purchase without its goods: " + together)
        .isFalse();
    if (first == Kinds.COMPLETE || second == Kinds.COMPLETE) {
      assertThat(together.paid()).as("the money is forgotten: " + together).isTrue();
    }
    if (together.paid()) {
      assertThat(together.status())
          .isNotIn(
              PurchaseStatus.FAILED,
              PurchaseStatus.EXPIRED,
              PurchaseStatus.REQUIRES_PAYMENT_METHOD);
    }
  }

  /** As {@code run} says it, whichever of the two was first. */
  private static Left reversed(Left left) {
    return new Left(
        left.status(),
        left.paid(),
        left.firstHold(),
        left.itsHold(),
        left.replaced(),
        left.events().stream().map(e -> e.equals("first") ? "second" : "first").sorted().toList(),
        List.of(left.told().get(1), left.told().get(0)));
  }

  private static Left run(Start start, Kinds first, Kinds second, boolean together)
      throws Exception {
    Purchase purchase = begun(start);
    CountDownLatch queued = new CountDownLatch(1);
    List<CompletableFuture<?>> taken = new ArrayList<>();
    if (together) {
      taken.add(blockUntil(queued));
    }
    var one = take(purchase, first, "first");
    if (!together) {
      told(one);
    }
    var two = take(purchase, second, "second");
    queued.countDown();
    List<String> told = List.of(told(one), told(two));
    for (CompletableFuture<?> other : taken) {
      other.get(30, TimeUnit.SECONDS);
    }
    return left(purchase, told);
  }

  /** Nothing else of this sale is decided before the latch falls; what is queued makes a batch. */
  private static CompletableFuture<?> blockUntil(CountDownLatch latch) throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    Companion<String, HoldOutcome, HoldOutcome> waiting =
        Companion.writing(
            (transaction, commands) -> {
              begun.countDown();
              try {
                latch.await(30, TimeUnit.SECONDS);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    CompletableFuture<?> blocked =
        holds.submit(acquire(HoldId.next()), waiting, "").toCompletableFuture();
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    return blocked;
  }

  private static CompletableFuture<? extends CompanionResult<?, StepResult>> take(
      Purchase purchase, Kinds kind, String event) {
    HoldId hold = purchase.hold();
    Optional<String> told = Optional.of(event + " " + purchase.id().value());
    return switch (kind) {
      case COMPLETE ->
          submit(new Confirm(SALE, hold, Saga.ACTOR), new Step.Complete(purchase, INTENT, told));
      case END ->
          submit(
              new Release(SALE, hold, Saga.ACTOR),
              new Step.End(
                  purchase,
                  purchase.ended(PurchaseStatus.FAILED, "declined", Optional.empty()),
                  told));
      case CHALLENGE ->
          submit(
              new Extend(SALE, hold, Duration.ofHours(2), Saga.ACTOR),
              new Step.Challenge(purchase, INTENT, "secret", Duration.ofMinutes(1), told));
      case DECLINE ->
          submit(
              new Extend(SALE, hold, Duration.ofHours(2), Saga.ACTOR),
              new Step.Decline(purchase, purchase.declined("declined", Optional.empty()), told));
      case REPLACE -> submit(acquire(HoldId.next()), new Step.Replace(purchase, CAMPAIGN));
      case REFUND -> submit(new Return(SALE, hold, Saga.ACTOR), new Step.Refund(purchase));
    };
  }

  private static CompletableFuture<? extends CompanionResult<?, StepResult>> submit(
      HoldCommand<?> command, Step step) {
    return holds.submit(command, COMPANION, step).toCompletableFuture();
  }

  private static String told(CompletableFuture<? extends CompanionResult<?, StepResult>> taken) {
    CompanionResult<?, StepResult> result = taken.join();
    return result instanceof RolledBack ? "refused" : result.outcome().getClass().getSimpleName();
  }

  private static Purchase begun(Start start) throws Exception {
    HoldId hold = HoldId.next();
    holds.submit(acquire(hold)).toCompletableFuture().get();
    Purchase begun =
        Purchase.begun(
            new PurchaseId(SALE.value(), hold.value()),
            hold,
            BUYER.value(),
            PRICE,
            new JsonArray()
                .add(
                    new JsonObject()
                        .put("sku", "A")
                        .put("quantity", 1)
                        .put("price", 500)
                        .put("positions", new JsonArray())),
            "pm_card_visa");
    database.execute(
        """
        INSERT INTO lockstep_server.purchase (campaign, id, hold, buyer, status, amount, currency,
          items, payment_method, created_by, created_at, changed_at, deadline, due_at)
        VALUES (1, '%1$s', '%1$s', 'b', 0, 500, 'JPY', '%2$s', 'pm_card_visa', 'b', now(), now(),
          now(), now())"""
            .formatted(hold, begun.items().encode()));
    return switch (start) {
      case UNPAID -> begun;
      case PAID_LATE -> {
        holds.submit(new Release(SALE, hold, Actor.operator("o"))).toCompletableFuture().get();
        take(begun, Kinds.COMPLETE, "before").get();
        yield begun.paidLate(INTENT);
      }
      case REFUNDING -> {
        take(begun, Kinds.COMPLETE, "before").get();
        database.execute(
            "UPDATE lockstep_server.purchase SET status = 5 WHERE id = '%s'".formatted(hold));
        yield begun.completed(INTENT).refunding();
      }
    };
  }

  private static Acquire acquire(HoldId hold) {
    return new Acquire(
        SALE, hold, BUYER, List.of(Line.of(POOL, 1)), Duration.ofHours(1), Saga.ACTOR);
  }

  private static Left left(Purchase purchase, List<String> told) {
    return database
        .query(
            """
            SELECT p.status, p.paid_at IS NOT NULL, f.state, h.state, p.hold <> p.id
            FROM lockstep_server.purchase p
            JOIN lockstep.hold f ON f.scope = p.campaign AND f.hold = p.id
            JOIN lockstep.hold h ON h.scope = p.campaign AND h.hold = p.hold
            WHERE p.id = '%s'"""
                .formatted(purchase.id().value()),
            row ->
                new Left(
                    PurchaseStatus.of(row.getInt(1)),
                    row.getBoolean(2),
                    row.getInt(3),
                    row.getInt(4),
                    row.getBoolean(5),
                    events(purchase),
                    told))
        .get(0);
  }

  private static List<String> events(Purchase purchase) {
    return database.query(
        "SELECT split_part(event, ' ', 1) FROM lockstep_server.payment_event"
            + " WHERE event LIKE '%% %s' AND event NOT LIKE 'before%%' ORDER BY 1"
                .formatted(purchase.id().value()),
        row -> row.getString(1));
  }
}
