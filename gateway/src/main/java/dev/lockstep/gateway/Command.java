package dev.lockstep.gateway;

import io.vertx.core.json.JsonObject;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What a request wants done. Its parameters are checked; whether it is possible is decided later.
 */
sealed interface Command {
  /** The intent it is about. */
  String intent();

  /** A new intent, paid at once if {@code confirm}. */
  record Create(
      String intent,
      String clientSecret,
      long amount,
      String currency,
      @Nullable TestCard card,
      boolean confirm,
      @Nullable String description,
      JsonObject metadata)
      implements Command {}

  /** Pay, with this card or the one the intent has. */
  record Confirm(String intent, @Nullable TestCard card) implements Command {}

  record Cancel(String intent, @Nullable String reason) implements Command {}

  /** The cardholder passed or failed the challenge. */
  record Authenticate(String intent, boolean passed) implements Command {}

  /** What a processing intent comes to. */
  record Settle(String intent, boolean paid) implements Command {}

  /** What a pending refund comes to. */
  record SettleRefund(String refund, String intent, RefundStatus to) implements Command {}

  /**
   * Refund.
   *
   * @param amount empty: all that is left
   */
  record GiveBack(
      String refund,
      String intent,
      OptionalLong amount,
      @Nullable String reason,
      JsonObject metadata)
      implements Command {}
}
