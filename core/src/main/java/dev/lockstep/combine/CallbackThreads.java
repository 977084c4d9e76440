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
 * Runs callers' callbacks, any of which may block for as long as it likes. A few threads suffice
 * while they return. If none returned for a moment and callbacks wait, the pool doubles, up to a
 * limit. Threads start on demand and end when idle.
 *
 * <p>The common pool would not do: it may have no thread, or all of them may be in callbacks.
 */
final class CallbackThreads implements Executor {
  private static final int MIN_THREADS = 4;
  private static final int MAX_THREADS = 1_024;
  private static final long IDLE_SECONDS = 5;
  private static final long STUCK_MS = 20;

  private final int few = Math.max(MIN_THREADS, Runtime.getRuntime().availableProcessors());
  private final ThreadPoolExecutor pool;
  private final ScheduledThreadPoolExecutor watch;
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
    watch = new ScheduledThreadPoolExecutor(1, daemons(name + "-watch-", new AtomicInteger()));
    watch.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    watch.allowCoreThreadTimeOut(true);
    watch.setRemoveOnCancelPolicy(true);
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
          watch.scheduleWithFixedDelay(this::look, STUCK_MS, STUCK_MS, TimeUnit.MILLISECONDS);
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
      pool.setCorePoolSize(Math.min(MAX_THREADS, 2 * pool.getCorePoolSize()));
    }
    begunBefore = begun;
  }
}
