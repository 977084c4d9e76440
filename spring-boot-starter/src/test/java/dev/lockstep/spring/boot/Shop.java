package dev.lockstep.spring.boot;

import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.job.JobContext;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.Outcome;
import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.Event;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.spring.Idempotent;
import dev.lockstep.spring.JobHandler;
import dev.lockstep.spring.OutboxSink;
import dev.lockstep.spring.Recurring;
import dev.lockstep.spring.Retrying;
import dev.lockstep.tx.Transactor;
import jakarta.persistence.EntityManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** A shop with JPA, as a developer would write it. */
@Service
class Shop {
  static final ScopeId SALE = new ScopeId(1);
  static final PoolId SHIRTS = new PoolId(7);

  private final EntityManager orders;
  private final Transactor transactor;
  private final Holds holds;
  private final Jobs jobs;
  private final Outbox outbox;

  private final Queue<String> seen = new ConcurrentLinkedQueue<>();

  Shop(EntityManager orders, Transactor transactor, Holds holds, Jobs jobs, Outbox outbox) {
    this.orders = orders;
    this.transactor = transactor;
    this.holds = holds;
    this.jobs = jobs;
    this.outbox = outbox;
  }

  /** What ran, in order. A method, because the bean is a proxy. */
  Queue<String> seen() {
    return seen;
  }

  // snippet: checkout
  /** The order, the hold, the job and the event: all of them, or none. */
  @Transactional
  public void checkout(String order, String buyer) {
    orders.persist(new ShopOrder(order));
    transactor.run(
        c -> {
          BuyerId ann = new BuyerId(buyer);
          Acquire shirt =
              Acquire.of(
                  SALE,
                  HoldId.forKey(ann, order),
                  ann,
                  List.of(Line.of(SHIRTS, 1)),
                  Duration.ofMinutes(15));
          if (!(holds.join(c, shirt) instanceof Granted)) {
            throw new IllegalStateException("sold out");
          }
          jobs.enqueue(c, NewJob.of("orders", "ship", "{\"order\": \"" + order + "\"}"));
          outbox.append(c, NewEvent.of("orders", order, "ordered", Content.json("{}")));
        });
  }

  // end: checkout

  // snippet: handlers
  record Ship(String order) {}

  /** What it writes and the end of the job are one transaction: shipped once. */
  @JobHandler(value = "ship", queue = "orders")
  public void ship(Ship job, JobContext context) {
    ShopOrder order = orders.find(ShopOrder.class, job.order());
    order.ship();
    seen.add("shipped " + order.id() + " at attempt " + context.attempt());
    if (order.id().startsWith("fragile") && context.attempt() == 1) {
      throw new IllegalStateException("dropped");
    }
  }

  /** In commit order for each key; after a failure again. */
  @OutboxSink(stream = "orders", name = "mailer")
  public void mail(Event event) {
    seen.add("mailed " + event.key());
  }

  @Recurring(name = "report", cron = "0 9 * * *", zone = "Asia/Tokyo")
  public void report() {
    seen.add("report");
  }

  // end: handlers

  /** Any outcome but done rolls back. */
  @JobHandler(value = "never", queue = "orders")
  public Outcome never(String payload) {
    orders.persist(new ShopOrder("never"));
    return new Outcome.Dead("cannot be done");
  }

  // snippet: idempotent
  record Receipt(String order, int number) {}

  /** The same key again: the same receipt, and no second order. */
  @Idempotent(owner = "#customer", key = "#idempotencyKey", request = "#order")
  public Receipt buy(String customer, String idempotencyKey, String order) {
    checkout(order, customer);
    return new Receipt(order, receipts.incrementAndGet());
  }

  // end: idempotent

  /** Commits, and then a callback of its transaction fails. */
  @Retrying
  public void failingAfterTheCommit(String order) {
    orders.persist(new ShopOrder(order));
    TransactionSynchronizationManager.registerSynchronization(
        new TransactionSynchronization() {
          @Override
          public void afterCommit() {
            throw new IllegalStateException(new SQLException("could not serialize", "40001"));
          }
        });
  }

  private final AtomicInteger receipts = new AtomicInteger();
  private int conflicts;

  /** Twice in conflict, then done. */
  @Retrying
  public void conflicting(String order) throws SQLException {
    orders.persist(new ShopOrder(order));
    if (conflicts++ < 2) {
      throw new SQLException("could not serialize", "40001");
    }
  }
}
