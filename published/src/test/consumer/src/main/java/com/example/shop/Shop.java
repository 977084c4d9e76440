package com.example.shop;

import dev.lockstep.cron.CronTimes;
import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.NewPool;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.job.Handlers;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.Outcome;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.job.Worker;
import dev.lockstep.job.WorkerConfig;
import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.NewAccount;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceKey;
import dev.lockstep.once.OnceResult;
import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.LongConsumer;
import javax.sql.DataSource;

// snippet: shop
/** Sells shirts: stock, money, event and job change together, once for each order. */
public final class Shop implements AutoCloseable {
  static final ScopeId SALE = new ScopeId(1);
  static final PoolId SHIRTS = new PoolId(1);
  static final BookId BOOK = new BookId(1);
  static final AccountId BANK = new AccountId(1);
  static final AccountId TILL = new AccountId(2);
  static final Money PRICE = new Money(25_00, "EUR");
  static final String SOLD = "{\"result\": \"sold\"}"; // an answer is JSON
  static final String SOLD_OUT = "{\"result\": \"sold out\"}";

  final Holds holds;
  final Ledger ledger;
  final Once once;
  final Outbox outbox;
  final Jobs jobs;

  public Shop(DataSource dataSource) {
    Transactor transactor = new Transactor(dataSource);
    holds = new Holds(transactor);
    ledger = new Ledger(transactor);
    once = new Once(transactor);
    outbox = new Outbox(transactor);
    jobs = new Jobs(transactor);
  }

  /** Asked again with the same order, it gives the same answer, and nothing happens twice. */
  public OnceResult buy(long customer, long order) {
    OnceKey key = new OnceKey(SALE.value(), Long.toString(customer), Long.toString(order));
    return once.call(
        key, Fingerprint.of("one shirt"), connection -> buy(connection, customer, order));
  }

  private String buy(Connection connection, long customer, long order) {
    BuyerId buyer = new BuyerId(Long.toString(customer));
    String key = Long.toString(order);
    HoldId hold = HoldId.forKey(buyer, key);
    List<Line> cart = List.of(Line.of(SHIRTS, 1));
    if (!(holds.join(connection, Acquire.of(SALE, hold, buyer, cart, Duration.ofMinutes(5)))
        instanceof Granted)) {
      return SOLD_OUT;
    }
    holds.join(connection, new Confirm(SALE, hold, Actor.operator("shop")));

    TransferId transfer = TransferId.forKey(buyer.value(), key);
    AccountId purse = new AccountId(customer);
    if (!(ledger.join(connection, new Move(BOOK, transfer, purse, TILL, PRICE))
        instanceof TransferDone)) {
      throw new IllegalStateException("cannot pay"); // rolls back everything, the shirt included
    }
    outbox.append(
        connection,
        NewEvent.of("orders", buyer.value(), "order.paid", Content.json(key)));
    jobs.enqueue(connection, NewJob.of("orders", "ship", key).inLane(buyer.value()));
    return SOLD;
  }

  // end: shop

  // snippet: open
  /** Once, when the sale is set up. */
  public void open(long customer) {
    holds.createScope(SALE, OptionalInt.of(2)); // at most two for each buyer
    holds.createPools(SALE, List.of(NewPool.counted(SHIRTS, 100)));
    ledger.openBook(BOOK);
    ledger.openAccounts(
        BOOK,
        List.of(
            NewAccount.withoutFloor(BANK, "the world outside", "EUR"),
            NewAccount.of(TILL, "till", "EUR"),
            NewAccount.of(new AccountId(customer), "purse", "EUR"))); // never below zero
    outbox.define("orders", List.of(SinkSpec.of("log", "log", "")), "shop");
  }

  // end: open

  // snippet: worker
  /** On each node. What the handler returns is written in the transaction that ends the job. */
  public Worker startWorker(LongConsumer carrier) {
    return jobs.worker(
        WorkerConfig.named("node-1").withQueue(QueueConfig.of("orders", 4)),
        Handlers.none()
            .on(
                "ship",
                Long::valueOf, // or your JSON library
                (order, job) -> {
                  carrier.accept(order);
                  return Outcome.done();
                }));
  }

  // end: worker

  static String nightly() {
    return CronTimes.parse("0 3 * * *").toString();
  }

  @Override
  public void close() {
    ledger.close();
    holds.close();
  }
}
