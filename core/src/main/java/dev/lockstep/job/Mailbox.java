package dev.lockstep.job;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A queue with many producers and one consumer. The consumer is unparked only if it sleeps, and by
 * a single producer. Under load, adding takes no lock and wakes no thread.
 */
final class Mailbox<T> {
  private final Queue<T> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicReference<@Nullable Thread> sleeper = new AtomicReference<>();

  void add(T one) {
    waiting.add(one);
    Thread thread = sleeper.get();
    if (thread != null && sleeper.compareAndSet(thread, null)) {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Waits for items and takes up to this many. For one thread only.
   *
   * @return empty if none came until this time of {@link System#nanoTime}
   */
  List<T> take(int most, OptionalLong untilNanos) throws InterruptedException {
    List<T> taken = new ArrayList<>();
    T next = waiting.poll();
    if (next == null) {
      next = await(untilNanos);
    }
    while (next != null) {
      taken.add(next);
      next = taken.size() < most ? waiting.poll() : null;
    }
    return taken;
  }

  private @Nullable T await(OptionalLong untilNanos) throws InterruptedException {
    try {
      while (true) {
        // Announce sleep first, then poll: an item added in between is seen here or by its
        // producer.
        sleeper.set(Thread.currentThread());
        T next = waiting.poll();
        if (next != null) {
          return next;
        }
        if (untilNanos.isEmpty()) {
          LockSupport.park(this);
        } else {
          long left = untilNanos.getAsLong() - System.nanoTime();
          if (left <= 0) {
            return null;
          }
          LockSupport.parkNanos(this, left);
        }
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
    } finally {
      sleeper.set(null);
    }
  }
}
