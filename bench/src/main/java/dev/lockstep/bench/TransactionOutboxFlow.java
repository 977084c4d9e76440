package dev.lockstep.bench;

import com.gruelbox.transactionoutbox.Dialect;
import com.gruelbox.transactionoutbox.Instantiator;
import com.gruelbox.transactionoutbox.Persistor;
import com.gruelbox.transactionoutbox.Submitter;
import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * transaction-outbox at its fastest: a pool of threads runs what was scheduled, in no order. Every
 * event has its own transaction: lock, call, delete.
 */
final class TransactionOutboxFlow {
  private static final int THREADS = 16;
  private static final int BATCH = 100;
  private static final long PATIENCE_SECONDS = 120;

  private TransactionOutboxFlow() {}

  /** What is called for each event. */
  interface Target {
    void publish(String portfolio, String json);
  }

  /** Schedules this many events, then runs them; returns the rate per second. */
  static double run(String name, BenchDatabase database, int count) throws Exception {
    LongAdder published = new LongAdder();
    CountDownLatch all = new CountDownLatch(count);
    CountDownLatch open = new CountDownLatch(1);
    ExecutorService executor = Executors.newFixedThreadPool(THREADS);
    Target target =
        (portfolio, json) -> {
          published.increment();
          all.countDown();
        };
    try {
      TransactionManager transactions = TransactionManager.fromDataSource(database.pool());
      TransactionOutbox outbox =
          TransactionOutbox.builder()
              .transactionManager(transactions)
              .persistor(Persistor.forDialect(Dialect.POSTGRESQL_9))
              .instantiator(Instantiator.using(type -> target))
              .submitter(Submitter.withExecutor(task -> executor.execute(() -> await(open, task))))
              .build();
      for (int from = 0; from < count; from += BATCH) {
        int first = from;
        transactions.inTransaction(
            () -> {
              for (int n = first; n < Math.min(count, first + BATCH); n++) {
                outbox
                    .schedule(Target.class)
                    .publish(Trades.portfolio(n, Relaying.PORTFOLIOS), Trades.json(n));
              }
            });
      }
      long startedNanos = System.nanoTime();
      open.countDown();
      if (!all.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(name + " published " + published.sum());
      }
      double perSecond = count / ((System.nanoTime() - startedNanos) / 1e9);
      executor.shutdown();
      if (!executor.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(name + " does not end");
      }
      Report.requireBalance(name, count, published.sum());
      Report.requireBalance(
          name + ", left", 0, database.number("SELECT count(*) FROM txno_outbox"));
      return perSecond;
    } finally {
      executor.shutdownNow();
    }
  }

  private static void await(CountDownLatch open, Runnable task) {
    try {
      open.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    task.run();
  }
}
