package dev.lockstep.combine;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A combiner's own threads: named, started on demand, ended after a few idle seconds. */
final class WriterThreads implements AutoCloseable {
  private static final long IDLE_SECONDS = 5;
  private static final long LAST_WORD_SECONDS = 5;

  private final ThreadPoolExecutor pool;

  WriterThreads(String name) {
    AtomicInteger number = new AtomicInteger();
    pool =
        new ThreadPoolExecutor(
            0,
            // The combiner limits its writers. A limit here could refuse one: a writer that gave up
            // its place may still be returning to the pool.
            Integer.MAX_VALUE,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            task -> {
              Thread thread = new Thread(task, name + "-writer-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
  }

  void start(Runnable writer) {
    pool.execute(writer);
  }

  /** Interrupts running writers and waits a bounded time for them to end. */
  @Override
  public void close() {
    pool.shutdownNow();
    try {
      pool.awaitTermination(LAST_WORD_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
