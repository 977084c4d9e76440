package dev.lockstep.server.purchase;

import dev.lockstep.combine.Combined;
import dev.lockstep.server.payment.PaymentEvent;
import dev.lockstep.server.payment.PaymentResult;
import dev.lockstep.server.payment.PaymentResult.Open;
import dev.lockstep.server.payment.PaymentResult.Succeeded;
import dev.lockstep.server.payment.PaymentResult.Unknown;
import dev.lockstep.server.purchase.WebhookIntake.Ask;
import dev.lockstep.server.purchase.WebhookIntake.Found;
import dev.lockstep.server.purchase.WebhookIntake.Intake;
import dev.lockstep.server.purchase.WebhookIntake.Sorted;
import dev.lockstep.tx.Exchange;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlArray;
import java.sql.Connection;
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
 * Sorts genuine events, many in one transaction: nearly all of them tell what is known already, and
 * are only written down. One that says something new is left to {@link Saga#settle}, which writes
 * it down together with what it changes.
 */
final class WebhookIntake implements Combined<Long, Ask, Found, Sorted, Intake> {
  private static final String KNOWN_EVENTS =
      "SELECT event FROM lockstep_server.payment_event WHERE campaign = ? AND event = ANY (?)";

  /** An event about a purchase of the campaign that is the combiner's key. */
  record Ask(PaymentEvent event, UUID purchase) {}

  /** Events that were used before, and the purchases as they stand. */
  record Found(Set<String> events, Map<UUID, Purchase> purchases) {}

  record Sorted(List<Intake> answers, List<String> recorded) {}

  /**
   * What to do with an event.
   *
   * @param toSettle the purchase it has news for; empty: none
   */
  record Intake(Optional<Purchase> toSettle) {
    static final Intake DONE = new Intake(Optional.empty());
  }

  @Override
  public Found lock(Exchange exchange, Long campaign, List<Ask> asks) throws SQLException {
    RoundTrip trip = exchange.trip();
    Rows<String> events =
        trip.query(
            KNOWN_EVENTS,
            row -> row.getString(1),
            campaign,
            SqlArray.texts(asks.stream().map(ask -> ask.event().id()).distinct().toList()));
    List<UUID> ids = asks.stream().map(Ask::purchase).distinct().toList();
    Rows<Purchase> purchases = PurchaseTable.addFind(trip, campaign, ids);
    trip.send();
    Map<UUID, Purchase> byId = new HashMap<>();
    purchases.list().forEach(purchase -> byId.put(purchase.id().value(), purchase));
    return new Found(new HashSet<>(events.list()), byId);
  }

  @Override
  public Sorted decide(Long campaign, Found found, List<Ask> asks) {
    Set<String> used = new HashSet<>(found.events());
    List<Intake> answers = new ArrayList<>(asks.size());
    List<String> recorded = new ArrayList<>();
    for (Ask ask : asks) {
      Purchase purchase = found.purchases().get(ask.purchase());
      boolean fresh = used.add(ask.event().id());
      if (!fresh || purchase == null) {
        answers.add(Intake.DONE);
      } else if (ask.event().result().isPresent() && isNews(purchase, ask.event().result().get())) {
        answers.add(new Intake(Optional.of(purchase)));
      } else {
        recorded.add(ask.event().id());
        answers.add(Intake.DONE);
      }
    }
    return new Sorted(answers, recorded);
  }

  @Override
  public void write(Exchange exchange, Long campaign, Sorted sorted) throws SQLException {
    if (!sorted.recorded().isEmpty()) {
      RoundTrip trip = exchange.trip();
      PurchaseTable.recordEvents(trip, campaign, sorted.recorded());
      exchange.putOff(trip);
    }
  }

  @Override
  public List<Intake> answers(Sorted sorted) {
    return sorted.answers();
  }

  /** To write it down twice, or not at all, changes nothing that anybody relies on. */
  @Override
  public boolean happened(Connection connection, Long campaign, Sorted sorted) {
    return true;
  }

  private static boolean isNews(Purchase purchase, PaymentResult result) {
    if (result instanceof Succeeded) {
      return Status.NOT_SOLD.contains(purchase.status());
    }
    return Status.OPEN.contains(purchase.status())
        && !purchase.paid()
        && !(result instanceof Open || result instanceof Unknown);
  }
}
