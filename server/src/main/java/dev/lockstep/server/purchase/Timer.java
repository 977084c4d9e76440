package dev.lockstep.server.purchase;

import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after purchases about which nothing was heard: a loop over the table, so that nothing is
 * forgotten when a process dies. Any number of nodes may run one. Whoever pushes a purchase's due
 * time has it until then; should two have it after all, every step is safe to take twice.
 */
final class Timer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Timer.class);

  private static final int BATCH = 100;
  private static final int MAX_IN_FLIGHT = 400;
  private static final long CLOSE_SECONDS = 10;

  /**
   * The provider forgets a key after 24 hours: sent again after that, it would be a new payment.
   */
  private static final Duration KEY_REMEMBERED = Duration.ofHours(23);

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

  private static final String FORGET_EVENTS =
      """
      DELETE FROM lockstep_server.payment_event WHERE (campaign, event) IN
        (SELECT campaign, event FROM lockstep_server.payment_event
         WHERE received_at < now() - interval '30 days' LIMIT 1000)""";
  private static final Duration FORGET_INTERVAL = Duration.ofMinutes(1);

  private final Transactor transactor;
  private final Saga saga;
  private final Refunds refunds;
  private final Timings timings;
  private final AtomicInteger inFlight = new AtomicInteger();
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread named = new Thread(task, "purchase-timer");
            named.setDaemon(true);
            return named;
          });

  Timer(Transactor transactor, Saga saga, Refunds refunds, Timings timings) {
    this.transactor = transactor;
    this.saga = saga;
    this.refunds = refunds;
    this.timings = timings;
  }

  private record Due(Purchase purchase, boolean keyForgotten) {}

  void start() {
    long everyMs = timings.pollInterval().toMillis();
    var unused = thread.scheduleWithFixedDelay(this::look, everyMs, everyMs, TimeUnit.MILLISECONDS);
    var unusedToo =
        thread.scheduleWithFixedDelay(
            this::forgetEvents,
            FORGET_INTERVAL.toMillis(),
            FORGET_INTERVAL.toMillis(),
            TimeUnit.MILLISECONDS);
  }

  private void look() {
    try {
      List<Due> taken;
      do {
        taken = inFlight.get() < MAX_IN_FLIGHT ? takeDue() : List.of();
        taken.forEach(this::resume);
      } while (taken.size() == BATCH && !Thread.currentThread().isInterrupted());
    } catch (RuntimeException e) {
      log.warn("Purchases that are due were not looked after this time: {}", e.getMessage());
    }
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

  private void forgetEvents() {
    try {
      transactor.run(
          connection -> {
            RoundTrip trip = new RoundTrip(connection);
            trip.update(FORGET_EVENTS);
            trip.send();
          });
    } catch (RuntimeException e) {
      log.warn("Old payment events are kept for now: {}", e.getMessage());
    }
  }

  /** What is under way ends by itself, or is due again later. */
  @Override
  public void close() {
    thread.shutdownNow();
    try {
      if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        log.warn("The purchase timer has not ended within {} s", CLOSE_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
