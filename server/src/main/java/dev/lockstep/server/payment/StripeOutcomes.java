package dev.lockstep.server.payment;

import com.stripe.exception.ApiConnectionException;
import com.stripe.exception.ApiException;
import com.stripe.exception.AuthenticationException;
import com.stripe.exception.CardException;
import com.stripe.exception.IdempotencyException;
import com.stripe.exception.PermissionException;
import com.stripe.exception.RateLimitException;
import com.stripe.exception.StripeException;
import com.stripe.model.PaymentIntent;
import com.stripe.model.StripeError;
import dev.lockstep.server.payment.PaymentResult.Canceled;
import dev.lockstep.server.payment.PaymentResult.Declined;
import dev.lockstep.server.payment.PaymentResult.Open;
import dev.lockstep.server.payment.PaymentResult.Rejected;
import dev.lockstep.server.payment.PaymentResult.RequiresAction;
import dev.lockstep.server.payment.PaymentResult.Succeeded;
import dev.lockstep.server.payment.PaymentResult.Unknown;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Interprets Stripe's answers and errors. The only place that reads its codes. */
final class StripeOutcomes {
  private static final int CONFLICT = 409;
  private static final int SERVER_ERROR = 500;

  private StripeOutcomes() {}

  /** The fields of an intent that decide, from an answer or an event. */
  private record Facts(
      IntentId intent,
      String status,
      long received,
      String currency,
      @Nullable String clientSecret,
      @Nullable String errorCode,
      @Nullable String errorMessage) {}

  static PaymentResult of(PaymentIntent intent) {
    StripeError error = intent.getLastPaymentError();
    return of(
        new Facts(
            new IntentId(intent.getId()),
            intent.getStatus(),
            intent.getAmountReceived() == null ? 0 : intent.getAmountReceived(),
            intent.getCurrency(),
            intent.getClientSecret(),
            error == null ? null : code(error.getDeclineCode(), error.getCode(), "declined"),
            error == null ? null : error.getMessage()));
  }

  /** Interprets an intent. */
  static PaymentResult of(JsonObject intent) {
    JsonObject error = intent.getJsonObject("last_payment_error");
    return of(
        new Facts(
            new IntentId(intent.getString("id", "")),
            intent.getString("status", ""),
            intent.getLong("amount_received", 0L),
            intent.getString("currency", ""),
            intent.getString("client_secret"),
            error == null
                ? null
                : error.getString("decline_code", error.getString("code", "declined")),
            error == null ? null : error.getString("message")));
  }

  private static PaymentResult of(Facts facts) {
    return switch (facts.status()) {
      case "succeeded" ->
          new Succeeded(
              facts.intent(),
              new Money(facts.received(), facts.currency().toUpperCase(Locale.ROOT)));
      case "requires_action" ->
          new RequiresAction(
              facts.intent(), facts.clientSecret() == null ? "" : facts.clientSecret());
      case "canceled" -> new Canceled(facts.intent());
      case "requires_payment_method" ->
          facts.errorCode() == null
              ? new Open(facts.intent(), facts.status())
              : new Declined(
                  Optional.of(facts.intent()),
                  facts.errorCode(),
                  facts.errorMessage() == null ? "" : facts.errorMessage());
      default -> new Open(facts.intent(), facts.status());
    };
  }

  static PaymentResult of(StripeException e) {
    StripeError error = e.getStripeError();
    PaymentIntent intent = error == null ? null : error.getPaymentIntent();
    if (e instanceof CardException card) {
      return new Declined(
          Optional.ofNullable(intent).map(i -> new IntentId(i.getId())),
          code(card.getDeclineCode(), card.getCode(), "declined"),
          message(error));
    }
    if (isUnknown(e)) {
      return new Unknown(reason(e));
    }
    if (intent != null) {
      // Too late for the request; the error carries the intent's current state.
      return of(intent);
    }
    return new Rejected(rejection(e), message(error));
  }

  static RefundResult ofRefund(StripeException e) {
    return isUnknown(e)
        ? new RefundResult.Unknown(reason(e))
        : new RefundResult.Rejected(rejection(e), message(e.getStripeError()));
  }

  /** Whether another refund exists, or one that this key does not show. */
  static boolean isRefundElsewhere(StripeException e) {
    return isKeyOfAnother(e) || "charge_already_refunded".equals(e.getCode());
  }

  /** Whether the key was used for a request with other parameters, which may have been executed. */
  static boolean isKeyOfAnother(StripeException e) {
    return e instanceof IdempotencyException
        && (e.getStatusCode() == null || e.getStatusCode() != CONFLICT);
  }

  /**
   * Whether it may have happened. That includes a request under the same key in progress (409), an
   * unreadable answer, and a key used before with other parameters.
   */
  static boolean isUnknown(StripeException e) {
    if (e instanceof ApiConnectionException
        || e instanceof RateLimitException
        || e instanceof IdempotencyException
        || e instanceof ApiException) {
      return true;
    }
    Integer status = e.getStatusCode();
    return status == null || status == CONFLICT || status >= SERVER_ERROR;
  }

  private static String reason(StripeException e) {
    return e.getStatusCode() == null || e.getStatusCode() == 0
        ? String.valueOf(e.getMessage())
        : "the provider answered " + e.getStatusCode();
  }

  private static String rejection(StripeException e) {
    if (e instanceof AuthenticationException || e instanceof PermissionException) {
      // About our key; says nothing about a payment sent before.
      return "unauthorized";
    }
    StripeError error = e.getStripeError();
    return code(e.getCode(), error == null ? null : error.getType(), "rejected");
  }

  private static String message(@Nullable StripeError error) {
    return error == null || error.getMessage() == null ? "" : error.getMessage();
  }

  private static String code(@Nullable String first, @Nullable String second, String otherwise) {
    return first != null ? first : second != null ? second : otherwise;
  }
}
