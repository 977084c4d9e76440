package dev.lockstep.tx;

import java.sql.Connection;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Sets a {@link Watchdog} on each connection that a Transactor uses.
 *
 * <p>One thread serves all watchdogs and sleeps until the nearest known deadline. Transactions that
 * begin and end before that do not wake it: a timer per transaction would cost a lone caller five
 * percent of its time. The thread starts on demand and ends after an idle period.
 */
final class Watch {
  private static final Duration IDLE_AFTER = Duration.ofSeconds(5);

  private final Set<Watchdog> dogs = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable Thread> watchman = new AtomicReference<>();
  // Null while the thread scans the set: it may have missed a watchdog added meanwhile.
  private volatile @Nullable Deadline sleepsUntil;

  /** Cuts the connection at the deadline, unless the watchdog is finished before. */
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
      // However the thread ended, the next transaction must start a new one.
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

  /**
   * Clears the reference first and checks the set second: a watchdog added in between is seen by
   * this thread or starts a new one.
   */
  private boolean leave() {
    watchman.set(null);
    return dogs.isEmpty() || !watchman.compareAndSet(null, Thread.currentThread());
  }
}
