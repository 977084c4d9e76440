package dev.lockstep.gateway;

import io.vertx.core.json.JsonObject;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What a request wants done. Its parameters are checked; {@link Decision} checks the state. */
sealed interface Command {
  /** The intent that it changes. */
  String intent();

  /** Decides it by the rules of {@link Decision}. */
  Answer decide(Decision rules, GatewayRequest request);

  /** A command on an existing intent. */
  sealed interface OnIntent extends Command {
    Answer decide(Decision rules, GatewayRequest request, Intent intent);

    @Override
    default Answer decide(Decision rules, GatewayRequest request) {
      return rules.onIntent(request, this);
    }
  }

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
      implements Command {
    @Override
    public Answer decide(Decision rules, GatewayRequest request) {
      return rules.create(request, this);
    }
  }

  /** Pay, with this card or the one the intent has. */
  record Confirm(String intent, @Nullable TestCard card) implements OnIntent {
    @Override
    public Answer decide(Decision rules, GatewayRequest request, Intent intent) {
      return rules.confirm(request, this, intent);
    }
  }

  record Cancel(String intent, @Nullable String reason) implements OnIntent {
    @Override
    public Answer decide(Decision rules, GatewayRequest request, Intent intent) {
      return rules.cancel(request, this, intent);
    }
  }

  /** The cardholder passed or failed the challenge. */
  record Authenticate(String intent, boolean passed) implements OnIntent {
    @Override
    public Answer decide(Decision rules, GatewayRequest request, Intent intent) {
      return rules.authenticate(request, this, intent);
    }
  }

  /** Ends a processing intent. */
  record Settle(String intent, boolean paid) implements OnIntent {
    @Override
    public Answer decide(Decision rules, GatewayRequest request, Intent intent) {
      return rules.settle(request, this, intent);
    }
  }

  /** Ends a pending refund. */
  record SettleRefund(String refund, String intent, RefundStatus to) implements OnIntent {
    @Override
    public Answer decide(Decision rules, GatewayRequest request, Intent intent) {
      return rules.settleRefund(request, this, intent);
    }
  }

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
      implements OnIntent {
    @Override
    public Answer decide(Decision rules, GatewayRequest request, Intent intent) {
      return rules.giveBack(request, this, intent);
    }
  }
}
