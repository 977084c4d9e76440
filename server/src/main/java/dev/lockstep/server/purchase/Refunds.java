package dev.lockstep.server.purchase;

import dev.lockstep.combine.CompanionResult.NotQueued;
import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.server.act.Act;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.cart.CartView;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.server.payment.Money;
import dev.lockstep.server.payment.Payments;
import dev.lockstep.server.payment.RefundResult;
import dev.lockstep.server.payment.RefundResult.AlreadyRefunded;
import dev.lockstep.server.payment.RefundResult.Differs;
import dev.lockstep.server.payment.RefundResult.Failed;
import dev.lockstep.server.payment.RefundResult.Pending;
import dev.lockstep.server.payment.RefundResult.Refunded;
import dev.lockstep.server.payment.RefundResult.Rejected;
import dev.lockstep.server.payment.RefundResult.Unknown;
import dev.lockstep.server.purchase.Mismatch.Kind;
import dev.lockstep.server.purchase.PartialRefunds.Part;
import dev.lockstep.server.purchase.StepResult.GoodsStay;
import dev.lockstep.server.purchase.StepResult.Idle;
import dev.lockstep.server.purchase.StepResult.Taken;
import dev.lockstep.server.purchase.StepResult.TooLate;
import dev.lockstep.sql.Exchange;
import dev.lockstep.tx.Transactor;
import io.vertx.core.json.JsonArray;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Refunds purchases in three steps: recorded, then executed at the provider under a key derived
 * from the purchase, then recorded as done in the transaction that takes the goods back. A timer
 * repeats interrupted steps. Thread-safe.
 */
final class Refunds {
  private static final Logger log = LoggerFactory.getLogger(Refunds.class);

  /** The next step of a refund. */
  @FunctionalInterface
  private interface Next {
    CompletionStage<Purchase> take(Refunds refunds, Purchase refunding);
  }

  private static final Cases<RefundResult, Next> NEXT =
      Cases.<RefundResult, Next>over(RefundResult.class)
          .when(Refunded.class, refunded -> Refunds::takeBack)
          .when(AlreadyRefunded.class, refunded -> Refunds::takeBack)
          .when(Pending.class, result -> (refunds, one) -> refunds.pending(one, result))
          .when(Failed.class, result -> (refunds, one) -> refunds.failed(one, result))
          .when(Differs.class, result -> (refunds, one) -> refunds.differs(one, result))
          .when(Rejected.class, result -> (refunds, one) -> refunds.rejected(one, result))
          .when(Unknown.class, unknown -> (refunds, one) -> Saga.done(one))
          .complete();

  /** The next step after trying to return a hold. */
  private static final Cases<StepResult, Next> TAKEN_BACK =
      Cases.<StepResult, Next>over(StepResult.class)
          .when(Idle.class, idle -> (refunds, one) -> refunds.store.reload(one.id()))
          .when(Taken.class, taken -> (refunds, one) -> Saga.done(taken.change().after()))
          .when(TooLate.class, late -> (refunds, one) -> refunds.store.reload(one.id()))
          .when(GoodsStay.class, stay -> Refunds::withoutGoods)
          .complete();

  private final Transactor transactor;
  private final Workers workers;
  private final Payments payments;
  private final Holds holds;
  private final StepCompanion companion;
  private final Mismatches mismatches;
  private final PurchaseStore store;
  private final Campaigns campaigns;

  Refunds(
      Transactor transactor,
      Workers workers,
      Payments payments,
      Holds holds,
      StepCompanion companion,
      Mismatches mismatches,
      PurchaseStore store,
      Campaigns campaigns) {
    this.transactor = transactor;
    this.workers = workers;
    this.payments = payments;
    this.holds = holds;
    this.companion = companion;
    this.mismatches = mismatches;
    this.store = store;
    this.campaigns = campaigns;
  }

  /** Starts the refund of a purchase that was paid but got no goods. */
  CompletionStage<Purchase> begin(Purchase paid) {
    Change change = Change.answering(paid, Set.of(PurchaseStatus.PENDING), paid.refunding());
    return write(change)
        .thenCompose(taken -> taken ? send(change.after()) : store.reload(paid.id()));
  }

  /**
   * Records the order to refund a completed purchase, with who gave it and why. The caller has
   * locked it, commits, and then calls {@link #sendMarked}.
   *
   * @param part empty: all that is left
   */
  void mark(Connection connection, Purchase completed, Optional<Part> part, Act act)
      throws SQLException {
    Purchase refunding = part.map(completed::refunding).orElseGet(completed::refunding);
    if (!take(connection, Change.silent(completed, Set.of(PurchaseStatus.COMPLETED), refunding))) {
      throw new IllegalStateException("The locked purchase " + completed.id() + " has changed");
    }
    Campaigns.record(connection, completed.id().campaign(), act);
  }

  /** Executes a recorded refund; repeating it is harmless. */
  CompletionStage<Purchase> send(Purchase refunding) {
    return payments.refund(refunding.refund()).thenCompose(result -> sent(refunding, result));
  }

  /**
   * Like {@link #send}, but never fails. The refund is recorded, and the money may be on its way:
   * after any failure it is still in progress, and the timer continues.
   */
  CompletionStage<Purchase> sendMarked(Purchase refunding) {
    return CompletableFuture.completedStage(refunding)
        .thenCompose(this::send)
        .exceptionally(
            thrown -> {
              log.warn("Refund of {} is left to the timer: {}", refunding.id(), thrown.toString());
              return refunding;
            });
  }

  /**
   * Goods come back together with the money. In every other case the purchase stays as it is, for
   * the timer, and for people if the provider cannot proceed.
   */
  private CompletionStage<Purchase> sent(Purchase refunding, RefundResult result) {
    return NEXT.of(result).take(this, refunding);
  }

  private CompletionStage<Purchase> note(
      Purchase refunding, Kind kind, Money money, String detail) {
    return mismatches
        .note(Mismatch.ofRefund(refunding, kind, money, detail))
        .thenApply(noted -> refunding);
  }

  private CompletionStage<Purchase> differs(Purchase refunding, Differs differs) {
    return note(
        refunding,
        Kind.REFUND_AMOUNT,
        differs.refunded(),
        "To give back " + refunding.refund().amount() + ", given back " + differs.refunded() + ".");
  }

  private CompletionStage<Purchase> failed(Purchase refunding, Failed failed) {
    return note(
        refunding,
        Kind.REFUND_FAILED,
        refunding.refund().amount(),
        "Refund " + failed.refund() + " failed: " + failed.code() + ".");
  }

  private CompletionStage<Purchase> rejected(Purchase refunding, Rejected rejected) {
    return note(
        refunding,
        Kind.REFUND_REJECTED,
        refunding.refund().amount(),
        "The refund is refused: " + rejected.code() + ".");
  }

  private CompletionStage<Purchase> pending(Purchase refunding, Pending pending) {
    return pending.needsBuyer()
        ? note(
            refunding,
            Kind.REFUND_WAITING,
            refunding.refund().amount(),
            "Refund " + pending.refund() + " waits for its buyer.")
        : Saga.done(refunding);
  }

  /** A purchase that was paid too late has no goods to take back. */
  private CompletionStage<Purchase> takeBack(Purchase refunding) {
    JsonArray items = refunding.partialRefunds().part().map(Part::items).orElseGet(JsonArray::new);
    if (items.isEmpty()) {
      return refunding.partialRefunds().part().isPresent()
          ? withoutGoods(refunding)
          : takeBack(refunding, List.of());
    }
    return campaigns
        .find(refunding.id().campaign())
        .toCompletionStage()
        .thenCompose(campaign -> takeBack(refunding, CartView.lines(campaign, items)));
  }

  /**
   * @param lines empty: all of it
   */
  private CompletionStage<Purchase> takeBack(Purchase refunding, List<Line> lines) {
    return holds
        .submit(
            new Return(refunding.id().scope(), refunding.hold(), Saga.ACTOR, lines),
            companion,
            new Step.Refund(refunding))
        .thenCompose(
            returned -> {
              if (returned instanceof NotQueued) {
                return Saga.done(refunding);
              }
              companion.committed(returned);
              return TAKEN_BACK
                  .of(returned.resultOr(outcome -> new StepResult.Idle()))
                  .take(this, refunding);
            });
  }

  private CompletionStage<Purchase> withoutGoods(Purchase refunding) {
    Change change =
        Change.silent(refunding, Set.of(PurchaseStatus.REFUNDING), refunding.refunded(false));
    return write(change)
        .thenCompose(
            taken -> {
              if (!taken) {
                return store.reload(refunding.id());
              }
              if (!change.isPart()) {
                companion.ended(PurchaseStatus.REFUNDED);
              }
              return Saga.done(change.after());
            });
  }

  private CompletionStage<Boolean> write(Change change) {
    return workers
        .run(() -> transactor.call(connection -> take(connection, change)))
        .toCompletionStage();
  }

  private boolean take(Connection connection, Change change) throws SQLException {
    return !companion
        .change(Exchange.within(connection), change.before().id().campaign(), List.of(change))
        .isEmpty();
  }
}
