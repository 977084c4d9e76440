package dev.lockstep.server.purchase;

import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after purchases about which nothing was heard. What is due is in the table, so that nothing
 * is forgotten when a process dies; a job that recurs looks there. Whoever pushes a purchase's due
 * time has it until then; should two have it after all, every step is safe to take twice.
 */
final class Timer {
  private static final Logger log = LoggerFactory.getLogger(Timer.class);

  private static final int BATCH = 100;
  private static final int MAX_IN_FLIGHT = 400;
  private static final Duration SHORTEST_WAIT = Duration.ofMillis(100);

  /**
   * The provider forgets a key after 24 hours: sent again after that, it would be a new payment.
   */
  static final Duration KEY_REMEMBERED = Duration.ofHours(23);

  // Skips what another node is taking. Whose time is up is marked in the same statement: from then
  // on
  // its payment is only canceled, and not sent or asked for again.
  private static final String TAKE_DUE =
      """
      UPDATE lockstep_server.purchase p
      SET looks = p.looks + 1,
        expiring = p.expiring
          OR (p.status IN (0, 1) AND p.paid_at IS NULL AND p.deadline <= now()),
        due_at = CASE WHEN p.status IN (0, 1) AND p.deadline > now()
          THEN least(p.deadline, now() + ? * (1 << least(p.looks, 5)) * interval '1 millisecond')
          ELSE now() + ? * (1 << least(p.looks, 5)) * interval '1 millisecond' END
      FROM (SELECT campaign, id FROM lockstep_server.purchase
            WHERE status IN (0, 1, 5) AND due_at <= now()
            ORDER BY due_at LIMIT ? FOR UPDATE SKIP LOCKED) due
      WHERE p.campaign = due.campaign AND p.id = due.id
      RETURNING %s, now() > p.created_at + ? * interval '1 millisecond'"""
          .formatted(PurchaseTable.COLUMNS);

  // No further than anybody waits: what has ended is in the index until VACUUM comes.
  private static final String NEXT_DUE =
      """
      SELECT extract(epoch FROM due_at - now()) * 1000 FROM lockstep_server.purchase
      WHERE status IN (0, 1, 5) AND due_at <= now() + ? * interval '1 millisecond'
      ORDER BY due_at LIMIT 1""";

  private static final String FORGET_EVENTS =
      """
      DELETE FROM lockstep_server.payment_event WHERE (campaign, event) IN
        (SELECT campaign, event FROM lockstep_server.payment_event
         WHERE received_at < now() - interval '30 days' LIMIT 1000)""";

  private final Transactor transactor;
  private final Saga saga;
  private final Refunds refunds;
  private final Timings timings;
  private final AtomicInteger inFlight = new AtomicInteger();

  Timer(Transactor transactor, Saga saga, Refunds refunds, Timings timings) {
    this.transactor = transactor;
    this.saga = saga;
    this.refunds = refunds;
    this.timings = timings;
  }

  private record Due(Purchase purchase, boolean keyForgotten) {}

  /**
   * Takes what is due and goes on with it; that ends by itself, or is due again later. Blocks while
   * it looks, not until they have ended.
   *
   * @return when to look again: when the next is due, and in time for one that was begun just now
   */
  Duration look() {
    List<Due> taken;
    do {
      taken = inFlight.get() < MAX_IN_FLIGHT ? takeDue() : List.of();
      taken.forEach(this::resume);
    } while (taken.size() == BATCH && !Thread.currentThread().isInterrupted());
    return transactor.call(this::untilNextDue);
  }

  /** The longest time between two looks. */
  Duration interval() {
    return timings.pollInterval();
  }

  private Duration untilNextDue(Connection connection) throws SQLException {
    long longest = timings.pollInterval().toMillis();
    RoundTrip trip = new RoundTrip(connection);
    Rows<Long> next = trip.query(NEXT_DUE, row -> (long) Math.ceil(row.getDouble(1)), longest);
    trip.send();
    long shortest = Math.min(SHORTEST_WAIT.toMillis(), longest);
    long wait = next.list().isEmpty() ? longest : next.list().get(0);
    return Duration.ofMillis(Math.max(shortest, wait));
  }

  private List<Due> takeDue() {
    return transactor.call(
        transactor.defaults().withLabel("purchase timer"),
        connection -> {
          long backOffMs = timings.lookAfter().toMillis();
          RoundTrip trip = new RoundTrip(connection);
          Rows<Due> due =
              trip.query(
                  TAKE_DUE,
                  row -> new Due(PurchaseTable.read(row), row.getBoolean(19)),
                  backOffMs,
                  backOffMs,
                  BATCH,
                  KEY_REMEMBERED.toMillis());
          trip.send();
          return due.list();
        });
  }

  private void resume(Due due) {
    inFlight.incrementAndGet();
    var unused =
        step(due)
            .whenComplete(
                (purchase, thrown) -> {
                  inFlight.decrementAndGet();
                  if (thrown != null) {
                    log.warn("Purchase {} is left for later: {}", due.purchase().id(), thrown);
                  }
                });
  }

  private CompletionStage<Purchase> step(Due due) {
    Purchase purchase = due.purchase();
    if (purchase.status() == Status.REFUNDING) {
      return refunds.send(purchase);
    }
    if (purchase.paid()) {
      return saga.resumePaid(purchase);
    }
    boolean known = purchase.payment().intent().isPresent();
    if (!known && due.keyForgotten()) {
      // Whether it was paid can only be told by the provider's event, or by people.
      log.error(
          "Purchase {} of {} was never answered by the payment provider; see the reconciliation",
          purchase.id(),
          purchase.createdAt().truncatedTo(ChronoUnit.SECONDS));
      return saga.keep(purchase);
    }
    if (purchase.expiring()) {
      return saga.expire(purchase);
    }
    return known ? saga.lookUp(purchase) : saga.pay(purchase);
  }

  /** Of a month ago: their signatures have long been too old to be sent again. */
  void forgetEvents() {
    transactor.run(
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          trip.update(FORGET_EVENTS);
          trip.send();
        });
  }
}
