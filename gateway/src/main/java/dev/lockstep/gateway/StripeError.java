package dev.lockstep.gateway;

import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * An error answer as Stripe writes it.
 *
 * @param status the HTTP status
 * @param type api_error, card_error, idempotency_error or invalid_request_error
 * @param code the reason for programs
 * @param declineCode why the card's bank refused
 * @param param the parameter at fault
 * @param message the reason for people
 */
record StripeError(
    int status,
    String type,
    @Nullable String code,
    @Nullable String declineCode,
    @Nullable String param,
    String message) {

  private static final String INVALID = "invalid_request_error";

  static StripeError invalid(@Nullable String param, String message) {
    return new StripeError(400, INVALID, null, null, param, message);
  }

  static StripeError missing(String param) {
    return invalid(param, "Missing required param: " + param + ".").withCode("parameter_missing");
  }

  static StripeError noSuch(String what, String id, String param) {
    return new StripeError(
        404, INVALID, "resource_missing", null, param, "No such " + what + ": '" + id + "'");
  }

  static StripeError noRoute(String method, String path) {
    return new StripeError(
        404, INVALID, null, null, null, "Unrecognized request URL (" + method + ": " + path + ").");
  }

  static StripeError unauthorized() {
    return new StripeError(401, INVALID, null, null, null, "Invalid API Key provided.");
  }

  static StripeError unexpectedState(String doing, IntentStatus status) {
    return new StripeError(
        400,
        INVALID,
        "payment_intent_unexpected_state",
        null,
        null,
        "You cannot "
            + doing
            + " this PaymentIntent because it has a status of "
            + status.wireName()
            + ".");
  }

  static StripeError refundOver(String refund, RefundStatus status) {
    return invalid(null, "Refund " + refund + " has a status of " + status.wireName() + ".");
  }

  static StripeError keyReused() {
    return new StripeError(
        400,
        "idempotency_error",
        null,
        null,
        null,
        "Keys for idempotent requests can only be used with the same parameters they were first used with.");
  }

  static StripeError declined(String declineCode) {
    return new StripeError(
        402, "card_error", "card_declined", declineCode, null, "Your card was declined.");
  }

  static StripeError notAuthenticated() {
    return new StripeError(
        402,
        "card_error",
        "payment_intent_authentication_failure",
        null,
        null,
        "The provided payment method has failed authentication.");
  }

  static StripeError tooMany() {
    return new StripeError(
        429, INVALID, "rate_limit", null, null, "Too many requests; try again later.");
  }

  static StripeError internal() {
    return new StripeError(500, "api_error", null, null, null, "An unknown error occurred.");
  }

  StripeError withCode(String code) {
    return new StripeError(status, type, code, declineCode, param, message);
  }

  /** The object inside {@code error} and {@code last_payment_error}. */
  JsonObject toJson() {
    JsonObject json = new JsonObject().put("type", type).put("message", message);
    putIfPresent(json, "code", code);
    putIfPresent(json, "decline_code", declineCode);
    putIfPresent(json, "param", param);
    return json;
  }

  private static void putIfPresent(JsonObject json, String name, @Nullable String value) {
    if (value != null) {
      json.put(name, value);
    }
  }
}
