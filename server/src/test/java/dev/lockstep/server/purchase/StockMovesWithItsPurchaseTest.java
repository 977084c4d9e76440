package dev.lockstep.server.purchase;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.CompanionResult;
import dev.lockstep.combine.CompanionResult.RolledBack;
import dev.lockstep.combine.CompanionResult.Written;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.NewPool;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.server.payment.IntentId;
import dev.lockstep.server.payment.Money;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import io.vertx.core.json.JsonArray;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two nodes may have a purchase at hand; one that acts on what was true before moves no stock. */
@Timeout(60)
class StockMovesWithItsPurchaseTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final ScopeId SALE = new ScopeId(1);
  private static final PoolId POOL = new PoolId(1);
  private static final IntentId INTENT = new IntentId("pi_1");
  private static final StepCompanion COMPANION =
      new StepCompanion(Duration.ofSeconds(10), (connection, sold) -> {});

  private static final CompanionResult<HoldOutcome, StepResult> REFUSED =
      new RolledBack<>(new StepResult.TooLate());

  private static Holds holds;

  @BeforeAll
  static void openTheSale() {
    database.execute("CREATE SCHEMA lockstep_server");
    database.runScript("/db/server/V110__purchases.sql");
    database.runScript("/db/server/V225__payment_tries.sql");
    database.runScript("/db/server/V226__partial_refunds.sql");
    holds = new Holds(new Transactor(database.dataSource()));
    holds.createScope(SALE, OptionalInt.empty());
    holds.createPools(SALE, List.of(NewPool.counted(POOL, 1_000)));
  }

  @AfterAll
  static void close() {
    holds.close();
  }

  @Test
  void aPurchaseThatIsRefundedMeanwhileIsNotSold() {
    Purchase stale = held();
    write(stale, PurchaseStatus.REFUNDED, true);

    assertThat(take(confirm(stale), complete(stale))).isEqualTo(REFUSED);
    assertThat(stateOf(stale)).isZero();
  }

  @Test
  void aPurchaseThatIsPaidMeanwhileIsNotReleased() {
    Purchase stale = held();
    write(stale, PurchaseStatus.PENDING, true);

    Step end =
        new Step.End(
            stale, stale.ended(PurchaseStatus.FAILED, "x", Optional.empty()), Optional.empty());
    assertThat(take(new Release(SALE, stale.hold(), Saga.ACTOR), end)).isEqualTo(REFUSED);
    assertThat(stateOf(stale)).isZero();
  }

  @Test
  void ofManyInABatchOnlyTheOneThatCameTooLateIsRefused() throws Exception {
    List<Purchase> purchases = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Purchase purchase = held();
      write(purchase, i == 7 ? PurchaseStatus.REFUNDING : PurchaseStatus.PENDING, i == 7);
      purchases.add(purchase);
    }

    List<CompletableFuture<? extends CompanionResult<?, StepResult>>> taken = new ArrayList<>();
    for (Purchase purchase : purchases) {
      taken.add(
          holds.submit(confirm(purchase), COMPANION, complete(purchase)).toCompletableFuture());
    }

    for (int i = 0; i < 20; i++) {
      CompanionResult<?, StepResult> result = taken.get(i).get(30, TimeUnit.SECONDS);
      if (i == 7) {
        assertThat(result).isEqualTo(REFUSED);
        assertThat(stateOf(purchases.get(i))).isZero();
      } else {
        assertThat(result).isInstanceOf(Written.class);
        assertThat(stateOf(purchases.get(i))).isEqualTo(1);
        assertThat(statusOf(purchases.get(i))).isEqualTo(PurchaseStatus.COMPLETED);
      }
    }
  }

  @Test
  void aRefundThatWasFinishedElsewhereTakesNothingBack() throws Exception {
    Purchase stale = held();
    write(stale, PurchaseStatus.PENDING, false);
    take(confirm(stale), complete(stale));
    database.execute(
        "UPDATE lockstep_server.purchase SET status = 6 WHERE id = '%s'".formatted(stale.hold()));

    Return back = new Return(SALE, stale.hold(), Saga.ACTOR);
    assertThat(take(back, new Step.Refund(stale.completed(INTENT).refunding()))).isEqualTo(REFUSED);
    assertThat(stateOf(stale)).isEqualTo(1);
  }

  @Test
  void theSameStepTakenTwiceIsTakenOnce() throws Exception {
    Purchase purchase = held();
    write(purchase, PurchaseStatus.PENDING, false);

    take(confirm(purchase), complete(purchase));
    take(confirm(purchase), complete(purchase));

    assertThat(statusOf(purchase)).isEqualTo(PurchaseStatus.COMPLETED);
    assertThat(
            database.queryLong(
                "SELECT count(*) FROM lockstep.stock_audit WHERE cause = 2 AND hold = ?",
                purchase.hold().value()))
        .isEqualTo(1);
  }

  @Test
  void aStepThatKnowsOnlyTheFirstHoldDoesNotTakeTheReplacementAway() throws Exception {
    Purchase stale = held();
    write(stale, PurchaseStatus.PENDING, true);
    HoldId replacement = HoldId.next();
    database.execute(
        "UPDATE lockstep_server.purchase SET hold = '%s' WHERE id = '%s'"
            .formatted(replacement, stale.hold()));
    holds.submit(new Release(SALE, stale.hold(), Saga.ACTOR)).toCompletableFuture().get();

    take(confirm(stale), complete(stale));

    assertThat(
            database.query(
                "SELECT hold::text FROM lockstep_server.purchase WHERE id = '%s'"
                    .formatted(stale.hold()),
                row -> row.getString(1)))
        .containsExactly(replacement.toString());
  }

  @Test
  void thePaymentOfAPurchaseIsLearnedOnceAndOnlyWhileItIsOpen() throws Exception {
    Purchase known = held();
    write(known, PurchaseStatus.PENDING, false);
    Purchase ended = held();
    write(ended, PurchaseStatus.EXPIRED, false);
    database.execute(
        "UPDATE lockstep_server.purchase SET intent = NULL WHERE id = '%s'"
            .formatted(ended.hold()));
    Purchase open = held();
    write(open, PurchaseStatus.REQUIRES_ACTION, false);
    database.execute(
        "UPDATE lockstep_server.purchase SET intent = NULL WHERE id = '%s'".formatted(open.hold()));

    for (Purchase purchase : List.of(known, ended, open)) {
      new Transactor(database.dataSource())
          .run(connection -> PurchaseTable.know(connection, purchase, new IntentId("pi_other")));
    }

    assertThat(intentOf(known)).as("it has its own").isEqualTo("pi_1");
    assertThat(intentOf(ended)).as("it has ended without money").isEqualTo("none");
    assertThat(intentOf(open)).isEqualTo("pi_other");
  }

  private static String intentOf(Purchase purchase) {
    return database
        .query(
            "SELECT coalesce(intent, 'none') FROM lockstep_server.purchase WHERE id = '%s'"
                .formatted(purchase.hold()),
            row -> row.getString(1))
        .get(0);
  }

  private static Confirm confirm(Purchase purchase) {
    return new Confirm(SALE, purchase.hold(), Saga.ACTOR);
  }

  private static Step complete(Purchase purchase) {
    return new Step.Complete(purchase, INTENT, Optional.empty());
  }

  private static CompanionResult<?, StepResult> take(HoldCommand<?> command, Step step) {
    return holds.submit(command, COMPANION, step).toCompletableFuture().join();
  }

  /** A purchase of one unit, as a node has it in mind. */
  private static Purchase held() {
    HoldId hold = HoldId.next();
    List<Line> lines = List.of(Line.of(POOL, 1));
    holds
        .submit(Acquire.of(SALE, hold, new BuyerId("b"), lines, Duration.ofHours(1)))
        .toCompletableFuture()
        .join();
    return Purchase.begun(
        new PurchaseId(SALE.value(), hold.value()),
        hold,
        "b",
        new Money(500, "JPY"),
        new JsonArray(),
        "pm_card_visa");
  }

  /** As it is in the table, whatever the node believes. */
  private static void write(Purchase purchase, PurchaseStatus status, boolean paid) {
    database.execute(
        """
        INSERT INTO lockstep_server.purchase (campaign, id, hold, buyer, status, amount, currency,
          items, payment_method, intent, paid_at, created_by, created_at, changed_at, deadline, due_at)
        VALUES (1, '%1$s', '%1$s', 'b', %2$d, 500, 'JPY', '[]', 'pm_card_visa', 'pi_1',
          CASE WHEN %3$s THEN now() END, 'b', now(), now(), now(), now())"""
            .formatted(purchase.hold(), status.code(), paid));
  }

  private static long stateOf(Purchase purchase) {
    return database.queryLong(
        "SELECT state FROM lockstep.hold WHERE hold = ?", purchase.hold().value());
  }

  private static PurchaseStatus statusOf(Purchase purchase) {
    return PurchaseStatus.of(
        (int)
            database.queryLong(
                "SELECT status FROM lockstep_server.purchase WHERE id = ?", purchase.id().value()));
  }
}
