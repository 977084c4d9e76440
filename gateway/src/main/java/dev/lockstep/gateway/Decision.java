package dev.lockstep.gateway;

import dev.lockstep.gateway.Books.Stored;
import dev.lockstep.gateway.Command.Authenticate;
import dev.lockstep.gateway.Command.Cancel;
import dev.lockstep.gateway.Command.Confirm;
import dev.lockstep.gateway.Command.Create;
import dev.lockstep.gateway.Command.GiveBack;
import dev.lockstep.gateway.Command.Settle;
import dev.lockstep.gateway.Command.SettleRefund;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides a batch of requests from the rows read under lock. A pure function.
 *
 * <p>Precedence: an answer given before under the key; a key used for something else; an unknown
 * intent; the intent's own state; the card.
 */
final class Decision {
  private static final String BY_FAULT = "generic_decline";

  private final Plan plan;
  private final Map<String, Intent> intents;
  private final Map<String, Refund> refunds;
  private final Map<String, Stored> answers;
  private final boolean webhooks;

  private Decision(Books books, boolean webhooks) {
    this.plan = new Plan(books.now());
    this.intents = new HashMap<>(books.intents());
    this.refunds = new HashMap<>(books.refunds());
    this.answers = new HashMap<>(books.answers());
    this.webhooks = webhooks;
  }

  /**
   * @param webhooks whether events have a receiver
   */
  static Plan decide(Books books, List<GatewayRequest> requests, boolean webhooks) {
    Decision decision = new Decision(books, webhooks);
    requests.forEach(request -> decision.plan.answers().add(decision.answer(request)));
    return decision.plan;
  }

  private Answer answer(GatewayRequest request) {
    Stored before = answers.get(request.key());
    if (before != null) {
      return before.fingerprint().equals(request.fingerprint())
          ? new Answer(before.status(), before.body(), true, null)
          : Answer.of(StripeError.keyReused());
    }
    return request.command().decide(this, request);
  }

  Answer onIntent(GatewayRequest request, Command.OnIntent command) {
    Intent intent = intents.get(command.intent());
    return intent == null
        // Nothing was begun, so the key stays free, as at Stripe.
        ? Answer.of(StripeError.noSuch("payment_intent", command.intent(), "intent"))
        : command.decide(this, request, intent);
  }

  Answer create(GatewayRequest request, Create create) {
    Intent intent =
        new Intent(
            create.intent(),
            create.amount(),
            create.currency(),
            IntentStatus.REQUIRES_PAYMENT_METHOD,
            null,
            create.clientSecret(),
            create.description(),
            create.metadata(),
            null,
            null,
            0,
            plan.now(),
            null);
    TestCard card = create.card();
    if (card != null) {
      intent = intent.withPaymentMethod(card.id());
    }
    Answer answer =
        create.confirm() && card != null
            ? attempt(request, intent, card)
            : done(request, intent, null);
    // attempt() and done() record a change; a new intent is inserted in its final state instead.
    plan.created().add(plan.changed().remove(intent.id()));
    return answer;
  }

  Answer confirm(GatewayRequest request, Confirm confirm, Intent intent) {
    if (intent.status().isFinal() || intent.status() == IntentStatus.PROCESSING) {
      return refused(request, intent, StripeError.unexpectedState("confirm", intent.status()));
    }
    TestCard card = confirm.card();
    if (card == null && intent.paymentMethod() != null) {
      card = TestCard.find(intent.paymentMethod()).orElse(null);
    }
    if (card == null) {
      return refused(request, intent, StripeError.missing("payment_method"));
    }
    return attempt(request, intent.withPaymentMethod(card.id()), card);
  }

  private Answer attempt(GatewayRequest request, Intent intent, TestCard card) {
    return switch (card.behaviour()) {
      case PAYS -> request.declined() ? declined(request, intent, BY_FAULT) : pays(request, intent);
      case DECLINES -> declined(request, intent, card.declineCode());
      case CHALLENGES -> done(request, intent.challenged(), "payment_intent.requires_action");
    };
  }

  private Answer pays(GatewayRequest request, Intent intent) {
    return request.processing()
        ? done(request, intent.processing(), "payment_intent.processing")
        : paid(request, intent);
  }

  private Answer paid(GatewayRequest request, Intent intent) {
    return done(request, intent.succeeded(), "payment_intent.succeeded");
  }

  private Answer declined(GatewayRequest request, Intent intent, String declineCode) {
    return failed(request, intent, StripeError.declined(declineCode));
  }

  private Answer failed(GatewayRequest request, Intent intent, StripeError error) {
    Intent after = intent.failed(error);
    change(after);
    return answered(
        request,
        error.status(),
        StripeJson.error(error, after),
        event(request, "payment_intent.payment_failed", StripeJson.intent(after).encode(), null));
  }

  Answer cancel(GatewayRequest request, Cancel cancel, Intent intent) {
    if (intent.status().isFinal() || intent.status() == IntentStatus.PROCESSING) {
      return refused(request, intent, StripeError.unexpectedState("cancel", intent.status()));
    }
    return done(request, intent.canceled(cancel.reason(), plan.now()), "payment_intent.canceled");
  }

  Answer authenticate(GatewayRequest request, Authenticate authenticate, Intent intent) {
    if (intent.status() != IntentStatus.REQUIRES_ACTION) {
      return refused(request, intent, StripeError.unexpectedState("authenticate", intent.status()));
    }
    if (!authenticate.passed()) {
      return failed(request, intent, StripeError.notAuthenticated());
    }
    return request.declined() ? declined(request, intent, BY_FAULT) : paid(request, intent);
  }

  Answer settle(GatewayRequest request, Settle settle, Intent intent) {
    if (intent.status() != IntentStatus.PROCESSING) {
      return refused(request, intent, StripeError.unexpectedState("settle", intent.status()));
    }
    return settle.paid() ? paid(request, intent) : declined(request, intent, BY_FAULT);
  }

  Answer settleRefund(GatewayRequest request, SettleRefund settle, Intent intent) {
    Refund refund = refunds.get(settle.refund());
    if (refund == null) {
      return Answer.of(StripeError.noSuch("refund", settle.refund(), "id"));
    }
    if (!refund.status().isOpen()) {
      return refused(request, intent, StripeError.refundOver(refund.id(), refund.status()));
    }
    Refund after = refund.in(settle.to());
    refunds.put(after.id(), after);
    plan.settled().put(after.id(), after);
    if (after.status().isUndone()) {
      change(intent.refundedBy(-after.amount()));
    }
    String body = StripeJson.refund(after).encode();
    return answered(request, 200, body, event(request, "refund.updated", body, null));
  }

  Answer giveBack(GatewayRequest request, GiveBack giveBack, Intent intent) {
    long left = intent.received() - intent.refunded();
    if (intent.status() != IntentStatus.SUCCEEDED) {
      return refused(request, intent, StripeError.unexpectedState("refund", intent.status()));
    }
    if (left == 0) {
      StripeError error =
          StripeError.invalid(null, "Charge " + intent.chargeId() + " has already been refunded.");
      return refused(request, intent, error.withCode("charge_already_refunded"));
    }
    long amount = giveBack.amount().orElse(left);
    if (amount > left) {
      StripeError error =
          StripeError.invalid(
              "amount", "Refund amount is greater than unrefunded amount on charge.");
      return refused(request, intent, error.withCode("amount_too_large"));
    }
    Refund refund =
        new Refund(
            giveBack.refund(),
            intent.id(),
            amount,
            intent.currency(),
            giveBack.reason(),
            giveBack.metadata(),
            request.pendingRefund() ? RefundStatus.PENDING : RefundStatus.SUCCEEDED,
            plan.now());
    Intent after = intent.refundedBy(amount);
    change(after);
    plan.refunds().add(refund);
    refunds.put(refund.id(), refund);
    return answered(
        request,
        200,
        StripeJson.refund(refund).encode(),
        event(request, "charge.refunded", StripeJson.charge(after).encode(), null));
  }

  /** Saves the intent and answers with it. */
  private Answer done(GatewayRequest request, Intent after, @Nullable String eventType) {
    change(after);
    String body = StripeJson.intent(after).encode();
    return answered(
        request,
        200,
        body,
        eventType == null ? null : event(request, eventType, body, request.key()));
  }

  private Answer refused(GatewayRequest request, Intent intent, StripeError error) {
    return answered(request, error.status(), StripeJson.error(error, intent), null);
  }

  private void change(Intent after) {
    intents.put(after.id(), after);
    plan.changed().put(after.id(), after);
  }

  private Answer answered(GatewayRequest request, int status, String body, @Nullable Event event) {
    Stored stored = new Stored(request.key(), request.id(), request.fingerprint(), status, body);
    answers.put(request.key(), stored);
    plan.stored().put(request.key(), stored);
    if (event != null) {
      plan.events().add(event);
    }
    return new Answer(status, body, false, event);
  }

  /**
   * @param answer the key whose stored answer is the object; null if there is none
   */
  private @Nullable Event event(
      GatewayRequest request, String type, String object, @Nullable String answer) {
    if (!webhooks) {
      return null;
    }
    String body = StripeJson.event(request, type, object, plan.now());
    int headLength = body.length() - object.length() - StripeJson.EVENT_END.length();
    return new Event(request.eventId(), type, body, answer, headLength, 0, request.webhookDelay());
  }
}
