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
 * What one thread is given by many. It is woken only if it sleeps, and by one of them: as long as
 * there is enough to do nobody waits for a lock, and nobody pays for waking it.
 */
final class Inbox<T> {
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
   * Waits until there is something, and takes it, up to so many. For one thread only.
   *
   * @return nothing, if nothing came until that time of {@link System#nanoTime}
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
        // Says so first and looks then: what comes in between is seen by one of the two.
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
