package dev.lockstep.gateway;

import dev.lockstep.gateway.Command.Authenticate;
import dev.lockstep.gateway.Command.Cancel;
import dev.lockstep.gateway.Command.Confirm;
import dev.lockstep.gateway.Command.Create;
import dev.lockstep.gateway.Command.GiveBack;
import dev.lockstep.gateway.Command.Settle;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads commands from forms. Every method throws {@link Refusal} for invalid parameters. */
final class Commands {
  private static final Pattern METADATA_TERM =
      Pattern.compile("metadata\\[['\"]([^'\"]+)['\"]\\]:['\"]([^'\"]*)['\"]");

  private Commands() {}

  static Create create(Form form) {
    long amount = requireLong(form, "amount");
    String currency = form.require("currency").toLowerCase(Locale.ROOT);
    AmountRules.check(amount, currency)
        .ifPresent(
            error -> {
              throw new Refusal(error);
            });
    TestCard card = card(form);
    boolean confirm = form.isTrue("confirm");
    if (confirm && card == null) {
      throw new Refusal(StripeError.missing("payment_method"));
    }
    String id = GatewayIds.next("pi_");
    return new Create(
        id,
        id + GatewayIds.secret(),
        amount,
        currency,
        card,
        confirm,
        form.find("description"),
        form.metadata());
  }

  static Confirm confirm(String intent, Form form) {
    return new Confirm(intent, card(form));
  }

  static Cancel cancel(String intent, Form form) {
    return new Cancel(intent, form.find("cancellation_reason"));
  }

  static Authenticate authenticate(String intent, Form form) {
    return switch (form.require("outcome")) {
      case "succeeded" -> new Authenticate(intent, true);
      case "failed" -> new Authenticate(intent, false);
      default ->
          throw new Refusal(StripeError.invalid("outcome", "The outcome is succeeded or failed."));
    };
  }

  static Settle settle(String intent, Form form) {
    return switch (form.require("outcome")) {
      case "succeeded" -> new Settle(intent, true);
      case "failed" -> new Settle(intent, false);
      default ->
          throw new Refusal(StripeError.invalid("outcome", "The outcome is succeeded or failed."));
    };
  }

  static RefundStatus refundOutcome(Form form) {
    return RefundStatus.find(form.require("outcome"))
        .orElseThrow(
            () ->
                new Refusal(
                    StripeError.invalid(
                        "outcome",
                        "The outcome is succeeded, failed, canceled or requires_action.")));
  }

  /** The metadata that a search names: {@code metadata['purchase']:'p-1' AND …}. */
  static JsonObject searched(@Nullable String query) {
    JsonObject metadata = new JsonObject();
    for (String term : query == null ? new String[0] : query.split(" AND ", -1)) {
      Matcher matcher = METADATA_TERM.matcher(term.strip());
      if (!matcher.matches()) {
        throw new Refusal(StripeError.invalid("query", "Only metadata is searched."));
      }
      metadata.put(matcher.group(1), matcher.group(2));
    }
    if (metadata.isEmpty()) {
      throw new Refusal(StripeError.missing("query"));
    }
    return metadata;
  }

  static GiveBack giveBack(Form form) {
    Optional<Long> amount = form.findLong("amount");
    if (amount.isPresent() && amount.get() < 1) {
      throw new Refusal(StripeError.invalid("amount", "Invalid positive integer"));
    }
    return new GiveBack(
        GatewayIds.next("re_"),
        intentOf(form),
        amount.isPresent() ? OptionalLong.of(amount.get()) : OptionalLong.empty(),
        form.find("reason"),
        form.metadata());
  }

  private static String intentOf(Form form) {
    String charge = form.find("charge");
    return charge != null && charge.startsWith("ch_")
        ? "pi_" + charge.substring("ch_".length())
        : form.require("payment_intent");
  }

  private static @Nullable TestCard card(Form form) {
    String id = form.find("payment_method");
    if (id == null) {
      return null;
    }
    return TestCard.find(id)
        .orElseThrow(() -> new Refusal(StripeError.noSuch("PaymentMethod", id, "payment_method")));
  }

  private static long requireLong(Form form, String name) {
    return form.findLong(name).orElseThrow(() -> new Refusal(StripeError.missing(name)));
  }
}
