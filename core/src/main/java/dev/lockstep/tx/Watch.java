package dev.lockstep.tx;

import java.sql.Connection;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Sets a {@link Watchdog} on each connection of a Transactor that runs a transaction.
 *
 * <p>One thread for all, which sleeps until the nearest deadline it knows of. A transaction that
 * begins and ends before that does not wake it: a timer of its own for each would cost a lone
 * caller a twentieth of its time. The thread is started on demand and ends when it was idle.
 */
final class Watch {
  private static final Duration IDLE_AFTER = Duration.ofSeconds(5);

  private final Set<Watchdog> dogs = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable Thread> watchman = new AtomicReference<>();
  // Null while he looks around: whoever comes meanwhile may have been overlooked.
  private volatile @Nullable Deadline sleepsUntil;

  /** The connection will be cut at the deadline, unless the watchdog is released before. */
  Watchdog over(Connection connection, Deadline deadline) {
    Watchdog dog = new Watchdog(connection, deadline, dogs::remove);
    dogs.add(dog);
    Thread awake = watchman.get();
    if (awake == null) {
      start();
    } else {
      Deadline next = sleepsUntil;
      if (next == null || deadline.isBefore(next)) {
        LockSupport.unpark(awake);
      }
    }
    return dog;
  }

  private void start() {
    Thread thread = new Thread(this::watch, "lockstep-deadlines");
    thread.setDaemon(true);
    if (watchman.compareAndSet(null, thread)) {
      thread.start();
    }
  }

  private void watch() {
    try {
      keepWatch();
    } finally {
      // Whatever ended him, the next transaction must not rely on somebody who is gone.
      watchman.compareAndSet(Thread.currentThread(), null);
    }
  }

  private void keepWatch() {
    boolean idle = false;
    while (!(idle && leave())) {
      sleepsUntil = null;
      Deadline next = Deadline.after(IDLE_AFTER);
      idle = dogs.isEmpty();
      for (Watchdog dog : dogs) {
        if (dog.deadline().remaining().isZero()) {
          dog.cut();
        } else if (dog.deadline().isBefore(next)) {
          next = dog.deadline();
        }
      }
      sleepsUntil = next;
      LockSupport.parkNanos(this, next.remaining().toNanos());
    }
  }

  /** Says that he is gone first, and looks then: who comes in between is seen by one of the two. */
  private boolean leave() {
    watchman.set(null);
    return dogs.isEmpty() || !watchman.compareAndSet(null, Thread.currentThread());
  }
}
