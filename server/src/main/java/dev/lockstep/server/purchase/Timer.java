package dev.lockstep.server.purchase;

import dev.lockstep.fault.LockstepException;
import dev.lockstep.fault.PermanentFault;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.server.api.Workers;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.StoredEnum;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxAction;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Continues purchases whose next step is overdue. Due times are in the table, so nothing is lost
 * when a process dies, and a recurring job polls them. The node that postpones a due time owns the
 * purchase until then; if two own it after all, every step is safe to repeat.
 */
final class Timer {
  private static final Logger log = LoggerFactory.getLogger(Timer.class);

  private static final int BATCH = 100;
  private static final int MAX_IN_FLIGHT = 400;
  private static final Duration SHORTEST_WAIT = Duration.ofMillis(100);

  /** The provider forgets a key after 24 hours. Sent again later, it would make a new payment. */
  static final Duration KEY_REMEMBERED = Duration.ofHours(23);

  // Skips rows that another node is taking. Also marks expired ones: from then on their payment is
  // only canceled, not sent or asked about again.
  private static final String TAKE_DUE =
      StoredEnum.sql(
          """
      UPDATE lockstep_server.purchase p
      SET looks = p.looks + 1,
        expiring = p.expiring
          OR (p.status IN ({PurchaseStatus.PENDING}, {PurchaseStatus.REQUIRES_ACTION},
              {PurchaseStatus.REQUIRES_PAYMENT_METHOD})
            AND p.paid_at IS NULL AND p.deadline <= now()),
        due_at = CASE
          WHEN p.status IN ({PurchaseStatus.PENDING}, {PurchaseStatus.REQUIRES_ACTION}) AND p.deadline > now()
          THEN least(p.deadline, now() + ? * (1 << least(p.looks, 5)) * interval '1 millisecond')
          ELSE now() + ? * (1 << least(p.looks, 5)) * interval '1 millisecond' END
      FROM (SELECT campaign, id FROM lockstep_server.purchase
            WHERE status IN ({PurchaseStatus.PENDING}, {PurchaseStatus.REQUIRES_ACTION}, {PurchaseStatus.REFUNDING},
                {PurchaseStatus.REQUIRES_PAYMENT_METHOD})
              AND due_at <= now()
            ORDER BY due_at LIMIT ? FOR UPDATE SKIP LOCKED) due
      WHERE p.campaign = due.campaign AND p.id = due.id
      RETURNING %s, now() > coalesce(p.tried_at, p.created_at) + ? * interval '1 millisecond' AS key_forgotten,
        EXISTS (SELECT 1 FROM lockstep_server.purchase_set_aside s
          WHERE s.campaign = p.campaign AND s.id = p.id) AS set_aside"""
              .formatted(PurchaseTable.COLUMNS),
          PurchaseStatus.class);

  // Reads no further than open ones: ended ones stay in the index until VACUUM.
  private static final String NEXT_DUE =
      StoredEnum.sql(
          """
      SELECT extract(epoch FROM due_at - now()) * 1000 FROM lockstep_server.purchase
      WHERE status IN ({PurchaseStatus.PENDING}, {PurchaseStatus.REQUIRES_ACTION}, {PurchaseStatus.REFUNDING},
          {PurchaseStatus.REQUIRES_PAYMENT_METHOD})
        AND due_at <= now() + ? * interval '1 millisecond'
      ORDER BY due_at LIMIT 1""",
          PurchaseStatus.class);

  private static final String FORGET_EVENTS =
      """
      WITH old AS MATERIALIZED (
        SELECT campaign, event FROM lockstep_server.payment_event
        WHERE received_at < now() - interval '30 days' LIMIT ? FOR UPDATE SKIP LOCKED)
      DELETE FROM lockstep_server.payment_event e USING old o
      WHERE e.campaign = o.campaign AND e.event = o.event""";

  private static final int FORGET_BATCH = 1_000;

  private final Transactor transactor;
  private final Workers workers;
  private final Saga saga;
  private final Refunds refunds;
  private final Timings timings;
  private final AtomicInteger inFlight = new AtomicInteger();

  Timer(Transactor transactor, Workers workers, Saga saga, Refunds refunds, Timings timings) {
    this.transactor = transactor;
    this.workers = workers;
    this.saga = saga;
    this.refunds = refunds;
    this.timings = timings;
  }

  /** What was taken: a purchase, or an unreadable row. */
  private sealed interface Taken {}

  /**
   * @param setAside it was set aside at an earlier look
   */
  private record Due(Purchase purchase, boolean keyForgotten, boolean setAside) implements Taken {}

  private record Unreadable(PurchaseId id, String why) implements Taken {}

  /**
   * Takes due purchases and continues them; each ends, or becomes due again. Blocks while it reads,
   * not until they end.
   *
   * @return when to look again: when the next is due, and early enough for purchases begun just now
   */
  Duration look() {
    List<Taken> taken;
    do {
      taken = inFlight.get() < MAX_IN_FLIGHT ? takeDue() : List.of();
      for (Taken one : taken) {
        if (one instanceof Due due) {
          resume(due);
        }
      }
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

  /** Sets an unreadable row aside, and takes the others. */
  private List<Taken> takeDue() {
    return transactor.call(
        transactor.defaults().withLabel("purchase timer"),
        connection -> {
          long backOffMs = timings.lookAfter().toMillis();
          RoundTrip trip = new RoundTrip(connection);
          Rows<Taken> due =
              trip.query(
                  TAKE_DUE, Timer::taken, backOffMs, backOffMs, BATCH, KEY_REMEMBERED.toMillis());
          trip.send();
          for (Taken one : due.list()) {
            if (one instanceof Unreadable unreadable) {
              SetAside.note(connection, unreadable.id(), "cannot be read: " + unreadable.why());
            }
          }
          return due.list();
        });
  }

  private static Taken taken(ResultSet row) throws SQLException {
    try {
      return new Due(
          PurchaseTable.read(row), row.getBoolean("key_forgotten"), row.getBoolean("set_aside"));
    } catch (RuntimeException e) {
      return new Unreadable(
          new PurchaseId(row.getLong("campaign"), row.getObject("id", UUID.class)), e.toString());
    }
  }

  private void resume(Due due) {
    inFlight.incrementAndGet();
    var unused =
        CompletableFuture.completedStage(due)
            .thenCompose(this::step)
            .whenComplete(
                (purchase, thrown) -> {
                  inFlight.decrementAndGet();
                  note(due, thrown);
                });
  }

  /** Leaves transient failures for later, and shows all others to people. */
  private void note(Due due, @Nullable Throwable thrown) {
    PurchaseId id = due.purchase().id();
    Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
    boolean passes =
        cause instanceof ProblemException
            || (cause instanceof LockstepException && !(cause instanceof PermanentFault));
    if (passes) {
      log.warn("Purchase {} is retried later: {}", id, String.valueOf(cause));
    } else if (cause != null) {
      write(connection -> SetAside.note(connection, id, "its step fails: " + cause));
    } else if (due.setAside()) {
      write(connection -> SetAside.forget(connection, id));
    }
  }

  private void write(TxAction action) {
    var unused =
        workers
            .run(
                () -> {
                  transactor.run(action);
                  return true;
                })
            .onFailure(e -> log.warn("Setting a purchase aside failed: {}", e.toString()));
  }

  private CompletionStage<Purchase> step(Due due) {
    Purchase purchase = due.purchase();
    if (purchase.status() == PurchaseStatus.REFUNDING) {
      return refunds.send(purchase);
    }
    if (purchase.paid()) {
      return saga.resumePaid(purchase);
    }
    boolean known = purchase.payment().intent().isPresent();
    if (!known && due.keyForgotten()) {
      // Only the provider's event, or people, can tell whether it was paid.
      log.error(
          "The payment provider never answered for purchase {} of {}; see the reconciliation",
          purchase.id(),
          purchase.createdAt().truncatedTo(ChronoUnit.SECONDS));
      return saga.keep(purchase);
    }
    if (purchase.expiring()) {
      return saga.expire(purchase);
    }
    if (purchase.status() == PurchaseStatus.REQUIRES_PAYMENT_METHOD) {
      // Only its deadline concerns the timer.
      return Saga.done(purchase);
    }
    // Until a later try is known to have arrived, the intent still shows the one before.
    boolean arrived =
        purchase.tries().isFirst() || purchase.status() == PurchaseStatus.REQUIRES_ACTION;
    return known && (arrived || due.keyForgotten())
        ? saga.lookUp(purchase)
        : saga.payAndLookUp(purchase);
  }

  /**
   * Forgets events a month old, whose signatures have long expired, and ended purchases that were
   * set aside.
   */
  void forgetEvents() {
    transactor.run(SetAside::forgetEnded);
    while (transactor.call(Timer::forgetSome) == FORGET_BATCH) {
      // In small transactions, until none is left.
    }
  }

  private static int forgetSome(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Object> rows = trip.update(FORGET_EVENTS, FORGET_BATCH);
    trip.send();
    return rows.changed();
  }
}
