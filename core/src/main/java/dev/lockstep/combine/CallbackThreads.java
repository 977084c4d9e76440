package dev.lockstep.combine;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Runs the callbacks of one combiner's callers, any of which may block for as long as it likes. A
 * few threads suffice while they return. If none returned for a moment and callbacks wait, the pool
 * doubles, up to a limit. Threads start on demand and end when idle.
 *
 * <p>The common pool would not do: it may have no thread, or all of them may be in callbacks. Nor
 * would {@link java.util.concurrent.CompletableFuture}'s thread for delays: any library's callback
 * may block it. {@link #CLOCK} runs no caller's code.
 */
final class CallbackThreads implements Executor {
  private static final int MIN_THREADS = 4;
  static final int MAX_THREADS = 1_024;
  private static final long IDLE_SECONDS = 5;
  private static final long STUCK_MS = 20;

  private static final ScheduledThreadPoolExecutor CLOCK = clock();

  private final int few = Math.max(MIN_THREADS, Runtime.getRuntime().availableProcessors());
  private final ThreadPoolExecutor pool;
  // Guarded by this.
  private @Nullable ScheduledFuture<?> watching;
  private long begunBefore;

  CallbackThreads(String name) {
    AtomicInteger number = new AtomicInteger();
    pool =
        new ThreadPoolExecutor(
            few,
            MAX_THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            daemons(name + "-", number));
    pool.allowCoreThreadTimeOut(true);
  }

  private static ScheduledThreadPoolExecutor clock() {
    ScheduledThreadPoolExecutor clock =
        new ScheduledThreadPoolExecutor(1, daemons("lockstep-clock-", new AtomicInteger()));
    clock.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    clock.allowCoreThreadTimeOut(true);
    clock.setRemoveOnCancelPolicy(true);
    return clock;
  }

  /**
   * Runs a task after a pause.
   *
   * @param task must not block, nor run a caller's code
   */
  static void after(long pauseNanos, Runnable task) {
    var unused = CLOCK.schedule(task, pauseNanos, TimeUnit.NANOSECONDS);
  }

  static ThreadFactory daemons(String prefix, AtomicInteger number) {
    return task -> {
      Thread thread = new Thread(task, prefix + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  @Override
  public void execute(Runnable task) {
    pool.execute(task);
    if (!pool.getQueue().isEmpty()) {
      beginToWatch();
    }
  }

  private synchronized void beginToWatch() {
    if (watching == null) {
      begunBefore = -1;
      watching =
          CLOCK.scheduleWithFixedDelay(this::look, STUCK_MS, STUCK_MS, TimeUnit.MILLISECONDS);
    }
  }

  private synchronized void look() {
    // Tasks begun = all tasks minus those that wait.
    long begun = pool.getTaskCount() - pool.getQueue().size();
    if (pool.getQueue().isEmpty()) {
      pool.setCorePoolSize(few);
      ScheduledFuture<?> done = watching;
      watching = null;
      if (done != null) {
        done.cancel(false);
      }
    } else if (begun == begunBefore) {
      grow();
    }
    begunBefore = begun;
  }

  private void grow() {
    try {
      pool.setCorePoolSize(Math.min(MAX_THREADS, 2 * pool.getCorePoolSize()));
    } catch (OutOfMemoryError e) {
      // No thread is available now. An exception would end the watch for good.
    }
  }
}
