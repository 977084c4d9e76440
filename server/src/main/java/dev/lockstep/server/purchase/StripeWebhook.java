package dev.lockstep.server.purchase;

import static io.vertx.core.http.HttpMethod.POST;

import dev.lockstep.combine.Combiner;
import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Request;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.server.payment.PaymentEvent;
import dev.lockstep.server.payment.PaymentResult;
import dev.lockstep.server.payment.PaymentResult.Canceled;
import dev.lockstep.server.payment.PaymentResult.Succeeded;
import dev.lockstep.server.payment.Verification;
import dev.lockstep.server.payment.Verification.Forged;
import dev.lockstep.server.payment.Verification.FromTheFuture;
import dev.lockstep.server.payment.Verification.Genuine;
import dev.lockstep.server.payment.Verification.Malformed;
import dev.lockstep.server.payment.Verification.TooOld;
import dev.lockstep.server.payment.WebhookVerifier;
import dev.lockstep.server.purchase.Mismatch.Kind;
import dev.lockstep.server.purchase.WebhookIntake.IncomingEvent;
import dev.lockstep.server.purchase.WebhookIntake.Intake;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Receives the payment provider's events. Answers 2xx only after acting on an event; the provider
 * repeats others.
 */
final class StripeWebhook implements AutoCloseable {
  private static final String SIGNATURE = "Stripe-Signature";
  private static final int WRITERS = 2;
  private static final Cases<Verification, String> REFUSALS =
      Cases.<Verification, String>over(Verification.class)
          .when(Malformed.class, malformed -> "The signature or the event is missing or malformed.")
          .when(Forged.class, forged -> "The signature does not match.")
          .when(TooOld.class, old -> "The signature is too old.")
          .when(FromTheFuture.class, early -> "The signature is from the future.")
          .never(Genuine.class)
          .complete();

  private static final JsonObject RECEIVED = new JsonObject().put("received", true);

  /** How long an event waits for an answer that is about to report the same. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private static final Duration SEND_AGAIN_AFTER = Duration.ofSeconds(1);

  private final Vertx vertx;
  private final Saga saga;
  private final Refunds refunds;
  private final Mismatches mismatches;
  private final PaymentsInFlight underWay;
  private final String secret;
  private final Combiner<Long, IncomingEvent, Intake> intake;

  /**
   * @param underWay the purchases this node is paying for
   * @param secret verifies events
   */
  StripeWebhook(
      Vertx vertx,
      Transactor transactor,
      Saga saga,
      Refunds refunds,
      Mismatches mismatches,
      PaymentsInFlight underWay,
      String secret) {
    this.vertx = vertx;
    this.saga = saga;
    this.refunds = refunds;
    this.mismatches = mismatches;
    this.underWay = underWay;
    this.secret = secret;
    this.intake =
        Combiner.on(
            transactor,
            new WebhookIntake(),
            CombinerConfig.named("webhooks").withMaxWriters(WRITERS));
  }

  Endpoint endpoint() {
    return Endpoint.of(
            POST, "/v1/webhooks/stripe", "Receives a signed event of the payment provider.")
        .takingSigned(Shape.anything(), SIGNATURE)
        .answering(200, Shape.object().required("received", Shape.bool()))
        .handledBy(this::receive);
  }

  @Override
  public void close() {
    intake.close();
  }

  private Future<Answer> receive(Request request) {
    Verification verified =
        WebhookVerifier.verify(
            request.rawBody(), request.header(SIGNATURE).orElse(null), secret, Instant.now());
    if (!(verified instanceof Genuine genuine)) {
      throw refusal(verified).asException();
    }
    PaymentEvent event = genuine.event();
    Optional<PurchaseId> purchase = Purchase.of(event.metadata());
    if (purchase.isEmpty()) {
      // It belongs to another use of this account.
      return Future.succeededFuture(Answer.ok(RECEIVED));
    }
    return Future.fromCompletionStage(actUpon(event, purchase.get()), vertx.getOrCreateContext())
        .map(
            acted -> {
              if (!acted) {
                throw Problem.overloaded(SEND_AGAIN_AFTER).asException();
              }
              return Answer.ok(RECEIVED);
            });
  }

  /** False if the provider should send it again. */
  private CompletionStage<Boolean> actUpon(PaymentEvent event, PurchaseId id) {
    Optional<CompletionStage<Purchase>> payment =
        event.result().filter(Succeeded.class::isInstance).flatMap(success -> underWay.take(id));
    return payment.isEmpty()
        ? sort(event, id)
        : isCompletedBy(payment.get(), (Succeeded) event.result().orElseThrow())
            .thenCompose(known -> known ? CompletableFuture.completedStage(true) : sort(event, id));
  }

  /** Completed by the same payment that the event reports. */
  private static CompletionStage<Boolean> isCompletedBy(
      CompletionStage<Purchase> payment, Succeeded told) {
    return payment
        .thenApply(
            purchase ->
                purchase.status() == PurchaseStatus.COMPLETED
                    && Mismatch.of(purchase, told, Optional.empty()).isEmpty())
        .toCompletableFuture()
        .completeOnTimeout(false, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionally(thrown -> false);
  }

  private CompletionStage<Boolean> sort(PaymentEvent event, PurchaseId id) {
    return intake
        .submit(id.campaign(), new IncomingEvent(event, id.value()))
        .thenCompose(
            sorted ->
                sorted.toSettle().isPresent()
                    ? settle(sorted.toSettle().get(), event)
                    : CompletableFuture.completedStage(true));
  }

  private CompletionStage<Boolean> settle(Purchase purchase, PaymentEvent event) {
    return event.result().isEmpty()
        ? refunds.send(purchase).thenApply(sent -> true)
        : hear(purchase, event);
  }

  /**
   * Acts upon an event. The event names its purchase, but anybody with the account can create such
   * a payment. Only the purchase's own payment counts, the one made under its key.
   *
   * @return false if it could not be acted upon and should be sent again
   */
  private CompletionStage<Boolean> hear(Purchase purchase, PaymentEvent event) {
    PaymentResult result = event.result().orElseThrow();
    if (!(result instanceof Succeeded || result instanceof Canceled)
        && !purchase.isOfNewestTry(event)) {
      return askedAgain(purchase);
    }
    if (purchase.canTell(event)) {
      return heard(purchase, result, event);
    }
    if (!(result instanceof Succeeded succeeded)) {
      // No money: the answer of its own payment, or the timer, reports how that ended.
      return CompletableFuture.completedStage(true);
    }
    if (!purchase.mayBeAskedFor(Instant.now())) {
      String detail = "It is unknown whether this is the purchase's own payment.";
      return mismatches
          .note(Mismatch.of(purchase, succeeded, Kind.UNPROVEN, Optional.of(event.id()), detail))
          .thenApply(noted -> true);
    }
    return (purchase.expiring() ? saga.expire(purchase) : saga.pay(purchase))
        .thenCompose(
            asked ->
                asked.payment().intent().isPresent()
                    ? heard(asked, result, event)
                    : CompletableFuture.completedStage(false));
  }

  /**
   * The event may be about an earlier try. The provider's current state decides, or the answer to
   * the try in progress.
   */
  private CompletionStage<Boolean> askedAgain(Purchase purchase) {
    return purchase.status() == PurchaseStatus.REQUIRES_ACTION
        ? saga.lookUp(purchase).thenApply(now -> true)
        : CompletableFuture.completedStage(true);
  }

  private CompletionStage<Boolean> heard(
      Purchase purchase, PaymentResult result, PaymentEvent event) {
    return saga.settle(purchase, result, Optional.of(event.id()))
        .thenApply(
            settled ->
                !(result instanceof Succeeded succeeded)
                    || settled.paid()
                    || Mismatch.of(purchase, succeeded, Optional.empty()).isPresent());
  }

  private static Problem refusal(Verification verified) {
    return Problem.invalidSignature(REFUSALS.of(verified));
  }
}
