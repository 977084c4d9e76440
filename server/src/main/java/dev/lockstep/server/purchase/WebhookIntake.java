package dev.lockstep.server.purchase;

import dev.lockstep.combine.Combined;
import dev.lockstep.combine.Trace;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.server.payment.PaymentEvent;
import dev.lockstep.server.payment.PaymentResult;
import dev.lockstep.server.payment.PaymentResult.Canceled;
import dev.lockstep.server.payment.PaymentResult.Declined;
import dev.lockstep.server.payment.PaymentResult.Open;
import dev.lockstep.server.payment.PaymentResult.Rejected;
import dev.lockstep.server.payment.PaymentResult.RequiresAction;
import dev.lockstep.server.payment.PaymentResult.Succeeded;
import dev.lockstep.server.payment.PaymentResult.Unknown;
import dev.lockstep.server.purchase.WebhookIntake.Found;
import dev.lockstep.server.purchase.WebhookIntake.IncomingEvent;
import dev.lockstep.server.purchase.WebhookIntake.Intake;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Sorts genuine events, many per transaction. Events with news are left to {@link Saga#settle},
 * which records them together with their effect. The others are dropped for good: what is not news
 * to a purchase now never will be.
 */
final class WebhookIntake implements Combined<Long, IncomingEvent, Found, List<Intake>, Intake> {
  private static final String KNOWN_EVENTS =
      "SELECT event FROM lockstep_server.payment_event WHERE campaign = ? AND event = ANY (?)";

  /** Whether an unpaid purchase can act on the provider's report. */
  private static final Cases<PaymentResult, Boolean> SAYS_SOMETHING =
      Cases.<PaymentResult, Boolean>over(PaymentResult.class)
          .when(Succeeded.class, succeeded -> true)
          .when(RequiresAction.class, waiting -> true)
          .when(Declined.class, declined -> true)
          .when(Canceled.class, canceled -> true)
          .when(Rejected.class, rejected -> true)
          .when(Open.class, open -> false)
          .when(Unknown.class, unknown -> false)
          .complete();

  /** An event about a purchase of the campaign, which is the combiner's key. */
  record IncomingEvent(PaymentEvent event, UUID purchase) {}

  /** The events already used, and the current purchases. */
  record Found(Set<String> events, Map<UUID, Purchase> purchases) {}

  /**
   * What to do with an event.
   *
   * @param toSettle the purchase it has news for; empty for none
   */
  record Intake(Optional<Purchase> toSettle) {
    static final Intake DONE = new Intake(Optional.empty());
  }

  @Override
  public Found lock(Exchange exchange, Long campaign, List<IncomingEvent> asks)
      throws SQLException {
    RoundTrip trip = exchange.trip();
    Rows<String> events =
        trip.query(
            KNOWN_EVENTS,
            row -> row.getString(1),
            campaign,
            SqlArray.texts(asks.stream().map(ask -> ask.event().id()).distinct().toList()));
    List<UUID> ids = asks.stream().map(IncomingEvent::purchase).distinct().toList();
    Rows<Purchase> purchases = PurchaseTable.addFind(trip, campaign, ids);
    trip.send();
    Map<UUID, Purchase> byId = new HashMap<>();
    purchases.list().forEach(purchase -> byId.put(purchase.id().value(), purchase));
    return new Found(new HashSet<>(events.list()), byId);
  }

  @Override
  public List<Intake> decide(Long campaign, Found found, List<IncomingEvent> asks) {
    List<Intake> answers = new ArrayList<>(asks.size());
    for (IncomingEvent ask : asks) {
      Purchase purchase = found.purchases().get(ask.purchase());
      // A second copy in this batch counts as new, too: the first may still fail.
      boolean fresh = !found.events().contains(ask.event().id());
      answers.add(
          fresh && purchase != null && isNews(purchase, ask.event())
              ? new Intake(Optional.of(purchase))
              : Intake.DONE);
    }
    return answers;
  }

  @Override
  public List<Intake> write(Exchange exchange, Long campaign, List<Intake> sorted) {
    // Sorting changes nothing.
    return sorted;
  }

  @Override
  public List<AttemptResult<Intake>> answers(List<Intake> sorted) {
    return AttemptResult.conditional(sorted);
  }

  @Override
  public Trace trace(Long campaign, List<Intake> sorted) {
    return new Trace.Nothing();
  }

  private static boolean isNews(Purchase purchase, PaymentEvent event) {
    if (event.result().isEmpty()) {
      return event.isRefund() && purchase.status() == PurchaseStatus.REFUNDING;
    }
    PaymentResult result = event.result().get();
    if (result instanceof Succeeded succeeded) {
      // For a paid purchase, other money is news as well.
      return PurchaseStatus.NOT_SOLD.contains(purchase.status())
          || Mismatch.of(purchase, succeeded, Optional.empty()).isPresent();
    }
    if (purchase.status() == PurchaseStatus.REQUIRES_PAYMENT_METHOD) {
      // Its decline is known; only the end of the payment is news.
      return result instanceof Canceled;
    }
    return PurchaseStatus.PAYING.contains(purchase.status())
        && !purchase.paid()
        && SAYS_SOMETHING.of(result);
  }
}
