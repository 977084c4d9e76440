package dev.lockstep.gateway;

import dev.lockstep.server.cases.Cases;
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
 * Decides a batch of requests on what the locked rows said. A pure function.
 *
 * <p>Precedence: an answer given before under the key; a key used for something else; an unknown
 * intent; the intent's own state; the card.
 */
final class Decision {
  private static final String BY_FAULT = "generic_decline";

  /** How a command on an intent that is there is decided. */
  @FunctionalInterface
  private interface Rule {
    Answer by(Decision decision, Ask ask, Intent intent);
  }

  private static final Cases<Command, Rule> ON_INTENT =
      Cases.<Command, Rule>over(Command.class)
          .when(Confirm.class, command -> (all, ask, intent) -> all.confirm(ask, command, intent))
          .when(Cancel.class, command -> (all, ask, intent) -> all.cancel(ask, command, intent))
          .when(
              Authenticate.class,
              command -> (all, ask, intent) -> all.authenticate(ask, command, intent))
          .when(Settle.class, command -> (all, ask, intent) -> all.settle(ask, command, intent))
          .when(
              SettleRefund.class,
              command -> (all, ask, intent) -> all.settleRefund(ask, command, intent))
          .when(GiveBack.class, command -> (all, ask, intent) -> all.giveBack(ask, command, intent))
          .never(Create.class)
          .complete();

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
   * @param webhooks whether anybody wants to hear of events
   */
  static Plan decide(Books books, List<Ask> asks, boolean webhooks) {
    Decision decision = new Decision(books, webhooks);
    asks.forEach(ask -> decision.plan.answers().add(decision.answer(ask)));
    return decision.plan;
  }

  private Answer answer(Ask ask) {
    Stored before = answers.get(ask.key());
    if (before != null) {
      return before.fingerprint().equals(ask.fingerprint())
          ? new Answer(before.status(), before.body(), true, null)
          : Answer.of(StripeError.keyReused());
    }
    Command command = ask.command();
    if (command instanceof Create create) {
      return create(ask, create);
    }
    Intent intent = intents.get(command.intent());
    if (intent == null) {
      // Nothing was begun, so the key stays free, as Stripe has it.
      return Answer.of(StripeError.noSuch("payment_intent", command.intent(), "intent"));
    }
    return ON_INTENT.of(command).by(this, ask, intent);
  }

  private Answer create(Ask ask, Create create) {
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
        create.confirm() && card != null ? attempt(ask, intent, card) : done(ask, intent, null);
    // attempt() and done() note a change; for an intent that is new it is all one row.
    plan.created().add(plan.changed().remove(intent.id()));
    return answer;
  }

  private Answer confirm(Ask ask, Confirm confirm, Intent intent) {
    if (intent.status().isFinal() || intent.status() == IntentStatus.PROCESSING) {
      return refused(ask, intent, StripeError.unexpectedState("confirm", intent.status()));
    }
    TestCard card = confirm.card();
    if (card == null && intent.paymentMethod() != null) {
      card = TestCard.find(intent.paymentMethod()).orElse(null);
    }
    if (card == null) {
      return refused(ask, intent, StripeError.missing("payment_method"));
    }
    return attempt(ask, intent.withPaymentMethod(card.id()), card);
  }

  private Answer attempt(Ask ask, Intent intent, TestCard card) {
    return switch (card.behaviour()) {
      case PAYS -> ask.declined() ? declined(ask, intent, BY_FAULT) : pays(ask, intent);
      case DECLINES -> declined(ask, intent, card.declineCode());
      case CHALLENGES -> done(ask, intent.challenged(), "payment_intent.requires_action");
    };
  }

  private Answer pays(Ask ask, Intent intent) {
    return ask.processing()
        ? done(ask, intent.processing(), "payment_intent.processing")
        : paid(ask, intent);
  }

  private Answer paid(Ask ask, Intent intent) {
    return done(ask, intent.succeeded(), "payment_intent.succeeded");
  }

  private Answer declined(Ask ask, Intent intent, String declineCode) {
    return failed(ask, intent, StripeError.declined(declineCode));
  }

  private Answer failed(Ask ask, Intent intent, StripeError error) {
    Intent after = intent.failed(error);
    change(after);
    return answered(
        ask,
        error.status(),
        StripeJson.error(error, after),
        event(ask, "payment_intent.payment_failed", StripeJson.intent(after).encode(), null));
  }

  private Answer cancel(Ask ask, Cancel cancel, Intent intent) {
    if (intent.status().isFinal() || intent.status() == IntentStatus.PROCESSING) {
      return refused(ask, intent, StripeError.unexpectedState("cancel", intent.status()));
    }
    return done(ask, intent.canceled(cancel.reason(), plan.now()), "payment_intent.canceled");
  }

  private Answer authenticate(Ask ask, Authenticate authenticate, Intent intent) {
    if (intent.status() != IntentStatus.REQUIRES_ACTION) {
      return refused(ask, intent, StripeError.unexpectedState("authenticate", intent.status()));
    }
    if (!authenticate.passed()) {
      return failed(ask, intent, StripeError.notAuthenticated());
    }
    return ask.declined() ? declined(ask, intent, BY_FAULT) : paid(ask, intent);
  }

  private Answer settle(Ask ask, Settle settle, Intent intent) {
    if (intent.status() != IntentStatus.PROCESSING) {
      return refused(ask, intent, StripeError.unexpectedState("settle", intent.status()));
    }
    return settle.paid() ? paid(ask, intent) : declined(ask, intent, BY_FAULT);
  }

  private Answer settleRefund(Ask ask, SettleRefund settle, Intent intent) {
    Refund refund = refunds.get(settle.refund());
    if (refund == null) {
      return Answer.of(StripeError.noSuch("refund", settle.refund(), "id"));
    }
    if (!refund.status().isOpen()) {
      return refused(ask, intent, StripeError.refundOver(refund.id(), refund.status()));
    }
    Refund after = refund.in(settle.to());
    refunds.put(after.id(), after);
    plan.settled().put(after.id(), after);
    if (after.status().isUndone()) {
      change(intent.refundedBy(-after.amount()));
    }
    String body = StripeJson.refund(after).encode();
    return answered(ask, 200, body, event(ask, "refund.updated", body, null));
  }

  private Answer giveBack(Ask ask, GiveBack giveBack, Intent intent) {
    long left = intent.received() - intent.refunded();
    if (intent.status() != IntentStatus.SUCCEEDED) {
      return refused(ask, intent, StripeError.unexpectedState("refund", intent.status()));
    }
    if (left == 0) {
      StripeError error =
          StripeError.invalid(null, "Charge " + intent.chargeId() + " has already been refunded.");
      return refused(ask, intent, error.withCode("charge_already_refunded"));
    }
    long amount = giveBack.amount().orElse(left);
    if (amount > left) {
      StripeError error =
          StripeError.invalid(
              "amount", "Refund amount is greater than unrefunded amount on charge.");
      return refused(ask, intent, error.withCode("amount_too_large"));
    }
    Refund refund =
        new Refund(
            giveBack.refund(),
            intent.id(),
            amount,
            intent.currency(),
            giveBack.reason(),
            giveBack.metadata(),
            ask.pendingRefund() ? RefundStatus.PENDING : RefundStatus.SUCCEEDED,
            plan.now());
    Intent after = intent.refundedBy(amount);
    change(after);
    plan.refunds().add(refund);
    refunds.put(refund.id(), refund);
    return answered(
        ask,
        200,
        StripeJson.refund(refund).encode(),
        event(ask, "charge.refunded", StripeJson.charge(after).encode(), null));
  }

  /** The intent is as given, and is the answer. */
  private Answer done(Ask ask, Intent after, @Nullable String eventType) {
    change(after);
    String body = StripeJson.intent(after).encode();
    return answered(
        ask, 200, body, eventType == null ? null : event(ask, eventType, body, ask.key()));
  }

  private Answer refused(Ask ask, Intent intent, StripeError error) {
    return answered(ask, error.status(), StripeJson.error(error, intent), null);
  }

  private void change(Intent after) {
    intents.put(after.id(), after);
    plan.changed().put(after.id(), after);
  }

  private Answer answered(Ask ask, int status, String body, @Nullable Event event) {
    Stored stored = new Stored(ask.key(), ask.request(), ask.fingerprint(), status, body);
    answers.put(ask.key(), stored);
    plan.stored().put(ask.key(), stored);
    if (event != null) {
      plan.events().add(event);
    }
    return new Answer(status, body, false, event);
  }

  /**
   * @param answer the key under which the object is the answer; null: it is not
   */
  private @Nullable Event event(Ask ask, String type, String object, @Nullable String answer) {
    if (!webhooks) {
      return null;
    }
    String body = StripeJson.event(ask, type, object, plan.now());
    int headLength = body.length() - object.length() - StripeJson.EVENT_END.length();
    return new Event(ask.eventId(), type, body, answer, headLength, 0, ask.webhookDelay());
  }
}
