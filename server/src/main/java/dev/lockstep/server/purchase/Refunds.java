package dev.lockstep.server.purchase;

import dev.lockstep.server.api.Workers;
import dev.lockstep.server.campaign.OperatorAct;
import dev.lockstep.server.payment.IntentId;
import dev.lockstep.server.payment.Payments;
import dev.lockstep.server.payment.RefundResult;
import dev.lockstep.server.payment.RefundResult.AlreadyRefunded;
import dev.lockstep.server.payment.RefundResult.Refunded;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives money back: first written down, then done under a key that follows from the purchase, then
 * written down as done. A timer repeats whatever was interrupted. Thread-safe.
 */
final class Refunds {
  private static final Logger log = LoggerFactory.getLogger(Refunds.class);

  private final Transactor transactor;
  private final Workers workers;
  private final Payments payments;
  private final Duration lookAfter;
  private final Function<PurchaseId, CompletionStage<Purchase>> reload;

  Refunds(
      Transactor transactor,
      Workers workers,
      Payments payments,
      Duration lookAfter,
      Function<PurchaseId, CompletionStage<Purchase>> reload) {
    this.transactor = transactor;
    this.workers = workers;
    this.payments = payments;
    this.lookAfter = lookAfter;
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

  /** Of a purchase whose refund is written down; asking again does no harm. */
  CompletionStage<Purchase> send(Purchase refunding) {
    IntentId intent = refunding.payment().intent().orElseThrow();
    return payments
        .refund(intent, refunding.refundKey())
        .thenCompose(result -> sent(refunding, result));
  }

  private CompletionStage<Purchase> sent(Purchase refunding, RefundResult result) {
    if (result instanceof Refunded || result instanceof AlreadyRefunded) {
      Change change = Change.silent(refunding, Set.of(Status.REFUNDING), refunding.refunded());
      return write(change).thenApply(taken -> change.after());
    }
    if (result instanceof RefundResult.Rejected rejected) {
      // Stays in the reconciliation, where people see it; the timer keeps trying.
      log.error("The refund of purchase {} is refused: {}", refunding.id(), rejected.code());
    }
    return CompletableFuture.completedStage(refunding);
  }

  private CompletionStage<Boolean> write(Change change) {
    return workers
        .run(() -> transactor.call(connection -> take(connection, change)))
        .toCompletionStage();
  }

  private boolean take(Connection connection, Change change) throws SQLException {
    return !PurchaseTable.change(
            connection, change.before().id().campaign(), List.of(change), lookAfter, Set.of())
        .isEmpty();
  }
}
