package dev.lockstep.server.purchase;

import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.HoldOutcome.Overloaded;
import dev.lockstep.hold.Holds;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.OperatorAct;
import dev.lockstep.server.payment.IntentId;
import dev.lockstep.server.payment.Payments;
import dev.lockstep.server.payment.RefundResult;
import dev.lockstep.server.payment.RefundResult.AlreadyRefunded;
import dev.lockstep.server.payment.RefundResult.Refunded;
import dev.lockstep.server.purchase.StepCompanion.GoodsStay;
import dev.lockstep.server.purchase.StepCompanion.StepRefused;
import dev.lockstep.tx.Exchange;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives money back: first written down, then done under a key that follows from the purchase, then
 * written down as done, in the transaction that takes the goods back. A timer repeats whatever was
 * interrupted. Thread-safe.
 */
final class Refunds {
  private static final Logger log = LoggerFactory.getLogger(Refunds.class);

  private final Transactor transactor;
  private final Workers workers;
  private final Payments payments;
  private final Holds holds;
  private final StepCompanion companion;
  private final Function<PurchaseId, CompletionStage<Purchase>> reload;

  Refunds(
      Transactor transactor,
      Workers workers,
      Payments payments,
      Holds holds,
      StepCompanion companion,
      Function<PurchaseId, CompletionStage<Purchase>> reload) {
    this.transactor = transactor;
    this.workers = workers;
    this.payments = payments;
    this.holds = holds;
    this.companion = companion;
    this.reload = reload;
  }

  /** Of a purchase that was paid and got no goods. */
  CompletionStage<Purchase> begin(Purchase paid) {
    Change change = Change.answering(paid, Set.of(Status.PENDING), paid.refunding());
    return write(change)
        .thenCompose(taken -> taken ? send(change.after()) : reload.apply(paid.id()));
  }

  /**
   * Writes down that a completed purchase is to be refunded, by whom and why. The caller commits,
   * and then calls {@link #send}.
   *
   * @return false if it is not completed any more
   */
  boolean mark(Connection connection, Purchase completed, OperatorAct act) throws SQLException {
    Change change = Change.silent(completed, Set.of(Status.COMPLETED), completed.refunding());
    boolean taken = take(connection, change);
    if (taken) {
      act.record(connection, completed.id().campaign());
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
    IntentId intent = refunding.payment().intent().orElseThrow();
    return payments
        .refund(intent, refunding.refundKey())
        .thenCompose(result -> sent(refunding, result));
  }

  private CompletionStage<Purchase> sent(Purchase refunding, RefundResult result) {
    if (result instanceof Refunded || result instanceof AlreadyRefunded) {
      return takeBack(refunding);
    }
    if (result instanceof RefundResult.Rejected rejected) {
      // Stays in the reconciliation, where people see it; the timer keeps trying.
      log.error("The refund of purchase {} is refused: {}", refunding.id(), rejected.code());
    }
    return CompletableFuture.completedStage(refunding);
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
                  ? reload.apply(refunding.id())
                  : Saga.done(refunding.refunded());
            })
        .exceptionallyCompose(thrown -> instead(refunding, thrown));
  }

  private CompletionStage<Purchase> instead(Purchase refunding, Throwable thrown) {
    Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
    if (cause instanceof StepRefused) {
      return reload.apply(refunding.id());
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
