package dev.lockstep.job;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/**
 * When a worker reads its shards next: after a hint, at a time, or at the next poll. Guarded by the
 * memory's lock.
 */
final class NextRead {
  private static final long LONGEST_MS = TimeUnit.DAYS.toMillis(1);

  private final Condition reader;
  private boolean hinted = true;
  private boolean timed = true;
  private long atNanos = System.nanoTime();

  NextRead(Condition reader) {
    this.reader = reader;
  }

  /** A job may have become due. */
  void hint() {
    hinted = true;
    reader.signal();
  }

  boolean isHinted() {
    return hinted;
  }

  /** Reads after this time at the latest. */
  void in(long ms) {
    long nanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.min(ms, LONGEST_MS));
    if (!timed || nanos - atNanos < 0) {
      timed = true;
      atNanos = nanos;
      reader.signal();
    }
  }

  /** Call when a read begins; returns whether there was a hint. */
  boolean begin() {
    boolean was = hinted;
    hinted = false;
    timed = false;
    return was;
  }

  /** Lets the reader sleep until it is woken or the time comes; false if the time has come. */
  @SuppressWarnings("WaitNotInLoop") // the caller loops
  boolean await(long pollNanos) throws InterruptedException {
    long now = System.nanoTime();
    long left = timed ? Math.min(pollNanos - now, atNanos - now) : pollNanos - now;
    if (left <= 0) {
      return false;
    }
    long unused = reader.awaitNanos(left);
    return true;
  }

  /** Wakes the reader: there may be room for more jobs, or the worker stops. */
  void wake() {
    reader.signal();
  }
}
