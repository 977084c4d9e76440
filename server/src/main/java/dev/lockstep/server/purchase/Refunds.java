package dev.lockstep.server.purchase;

import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.HoldOutcome.Overloaded;
import dev.lockstep.hold.Holds;
import dev.lockstep.server.act.Act;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.Campaigns;
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
import dev.lockstep.server.purchase.StepCompanion.GoodsStay;
import dev.lockstep.server.purchase.StepCompanion.StepRefused;
import dev.lockstep.sql.Exchange;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives money back: first written down, then done under a key that follows from the purchase, then
 * written down as done, in the transaction that takes the goods back. A timer repeats whatever was
 * interrupted. Thread-safe.
 */
final class Refunds {
  private static final Logger log = LoggerFactory.getLogger(Refunds.class);

  /** What follows for a purchase that is refunded. */
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

  private final Transactor transactor;
  private final Workers workers;
  private final Payments payments;
  private final Holds holds;
  private final StepCompanion companion;
  private final Mismatches mismatches;
  private final PurchaseStore store;

  Refunds(
      Transactor transactor,
      Workers workers,
      Payments payments,
      Holds holds,
      StepCompanion companion,
      Mismatches mismatches,
      PurchaseStore store) {
    this.transactor = transactor;
    this.workers = workers;
    this.payments = payments;
    this.holds = holds;
    this.companion = companion;
    this.mismatches = mismatches;
    this.store = store;
  }

  /** Of a purchase that was paid and got no goods. */
  CompletionStage<Purchase> begin(Purchase paid) {
    Change change = Change.answering(paid, Set.of(Status.PENDING), paid.refunding());
    return write(change)
        .thenCompose(taken -> taken ? send(change.after()) : store.reload(paid.id()));
  }

  /**
   * Writes down that a completed purchase is to be refunded, by whom and why. The caller commits,
   * and then calls {@link #send}.
   *
   * @return false if it is not completed any more
   */
  boolean mark(Connection connection, Purchase completed, Act act) throws SQLException {
    Change change = Change.silent(completed, Set.of(Status.COMPLETED), completed.refunding());
    boolean taken = take(connection, change);
    if (taken) {
      Campaigns.record(connection, completed.id().campaign(), act);
    }
    return taken;
  }

  /** Why a purchase cannot be marked. */
  static Problem refusal(Purchase purchase) {
    return Problem.of(
            "not-refundable",
            409,
            "Not refundable",
            "Only a completed purchase can be refunded; this one is "
                + purchase.status().label()
                + ".")
        .with("purchaseStatus", purchase.status().label());
  }

  /** Of a purchase whose refund is written down; asking again does no harm. */
  CompletionStage<Purchase> send(Purchase refunding) {
    return payments.refund(refunding.refund()).thenCompose(result -> sent(refunding, result));
  }

  /**
   * As {@link #send}. It is written down, and the money may be on its way: whatever fails now, it
   * is under way, and the timer goes on with it. Never fails.
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
   * Goods come back with the money and not before; whatever else became of it stays as it is, for
   * the timer, and for people where the provider does not get on with it.
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
        "To give back " + refunding.total() + ", given back " + differs.refunded() + ".");
  }

  private CompletionStage<Purchase> failed(Purchase refunding, Failed failed) {
    return note(
        refunding,
        Kind.REFUND_FAILED,
        refunding.total(),
        "Refund " + failed.refund() + " failed: " + failed.code() + ".");
  }

  private CompletionStage<Purchase> rejected(Purchase refunding, Rejected rejected) {
    return note(
        refunding,
        Kind.REFUND_REJECTED,
        refunding.total(),
        "The refund is refused: " + rejected.code() + ".");
  }

  private CompletionStage<Purchase> pending(Purchase refunding, Pending pending) {
    return pending.needsBuyer()
        ? note(
            refunding,
            Kind.REFUND_WAITING,
            refunding.total(),
            "Refund " + pending.refund() + " waits for its buyer.")
        : Saga.done(refunding);
  }

  /** A purchase that was paid too late has got no goods; then there is nothing to take back. */
  private CompletionStage<Purchase> takeBack(Purchase refunding) {
    StepAttempt attempt = new StepAttempt(new Step.Refund(refunding));
    return holds
        .submit(
            new Return(refunding.id().scope(), refunding.hold(), Saga.ACTOR), companion, attempt)
        .thenCompose(
            outcome -> {
              if (outcome instanceof Overloaded) {
                return Saga.done(refunding);
              }
              companion.committed(attempt, outcome);
              return attempt.cameTooLate()
                  ? store.reload(refunding.id())
                  : Saga.done(refunding.refunded());
            })
        .exceptionallyCompose(thrown -> instead(refunding, thrown));
  }

  private CompletionStage<Purchase> instead(Purchase refunding, Throwable thrown) {
    Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
    if (cause instanceof StepRefused) {
      return store.reload(refunding.id());
    }
    return cause instanceof GoodsStay
        ? withoutGoods(refunding)
        : CompletableFuture.failedStage(thrown);
  }

  private CompletionStage<Purchase> withoutGoods(Purchase refunding) {
    Change change = Change.silent(refunding, Set.of(Status.REFUNDING), refunding.refunded());
    return write(change)
        .thenApply(
            taken -> {
              if (taken) {
                companion.ended(Status.REFUNDED);
              }
              return change.after();
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
