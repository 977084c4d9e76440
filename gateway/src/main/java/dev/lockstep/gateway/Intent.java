package dev.lockstep.gateway;

import io.vertx.core.json.JsonObject;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A payment intent. Immutable: each step returns a new intent.
 *
 * @param metadata as given by the client; not changed after construction
 * @param failure why the last attempt failed; null if it did not
 * @param refunded how much went back
 */
record Intent(
    String id,
    long amount,
    String currency,
    IntentStatus status,
    @Nullable String paymentMethod,
    String clientSecret,
    @Nullable String description,
    JsonObject metadata,
    @Nullable Failure failure,
    @Nullable String cancellationReason,
    long refunded,
    Instant createdAt,
    @Nullable Instant canceledAt) {

  /** Why an attempt did not pay, in Stripe's codes. */
  record Failure(String code, @Nullable String declineCode) {
    StripeError toError() {
      return declineCode == null
          ? StripeError.notAuthenticated()
          : StripeError.declined(declineCode);
    }
  }

  /** An intent has one successful charge, whose id follows from the intent's. */
  String chargeId() {
    return "ch_" + id.substring(id.indexOf('_') + 1);
  }

  long received() {
    return status == IntentStatus.SUCCEEDED ? amount : 0;
  }

  Intent withPaymentMethod(String method) {
    return after(IntentStatus.REQUIRES_CONFIRMATION, method, null);
  }

  Intent succeeded() {
    return after(IntentStatus.SUCCEEDED, paymentMethod, null);
  }

  /** The bank has not decided yet. */
  Intent processing() {
    return after(IntentStatus.PROCESSING, paymentMethod, null);
  }

  Intent challenged() {
    return after(IntentStatus.REQUIRES_ACTION, paymentMethod, null);
  }

  /** Drops the failed payment method: the client must give another. */
  Intent failed(StripeError error) {
    String code = error.code() == null ? error.type() : error.code();
    return after(
        IntentStatus.REQUIRES_PAYMENT_METHOD, null, new Failure(code, error.declineCode()));
  }

  Intent canceled(@Nullable String reason, Instant at) {
    return new Intent(
        id,
        amount,
        currency,
        IntentStatus.CANCELED,
        paymentMethod,
        clientSecret,
        description,
        metadata,
        failure,
        reason,
        refunded,
        createdAt,
        at);
  }

  Intent refundedBy(long more) {
    return new Intent(
        id,
        amount,
        currency,
        status,
        paymentMethod,
        clientSecret,
        description,
        metadata,
        failure,
        cancellationReason,
        refunded + more,
        createdAt,
        canceledAt);
  }

  private Intent after(IntentStatus next, @Nullable String method, @Nullable Failure why) {
    return new Intent(
        id,
        amount,
        currency,
        next,
        method,
        clientSecret,
        description,
        metadata,
        why,
        cancellationReason,
        refunded,
        createdAt,
        canceledAt);
  }
}
