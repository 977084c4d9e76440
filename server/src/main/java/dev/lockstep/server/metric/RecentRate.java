package dev.lockstep.server.metric;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/**
 * How often something happened per second, over the last ten full seconds. Thread-safe. Each cell
 * counts one second; its upper half says which one.
 */
final class RecentRate {
  private static final int SECONDS = 10;
  private static final int CELLS = 16;
  private static final long COUNT_MASK = 0xFFFF_FFFFL;

  private final LongSupplier nanoTime;
  private final long beganNanos;
  private final AtomicLongArray cells = new AtomicLongArray(CELLS);

  RecentRate(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.beganNanos = nanoTime.getAsLong();
  }

  void add(int events) {
    long second = second();
    cells.updateAndGet(
        (int) (second % CELLS),
        cell -> isOf(cell, second) ? cell + events : (second << Integer.SIZE) + events);
  }

  double perSecond() {
    long now = second();
    long sum = 0;
    for (long second = now - SECONDS; second < now; second++) {
      long cell = cells.get((int) (second % CELLS));
      sum += isOf(cell, second) ? cell & COUNT_MASK : 0;
    }
    return (double) sum / SECONDS;
  }

  private static boolean isOf(long cell, long second) {
    return cell >>> Integer.SIZE == (second & COUNT_MASK);
  }

  /** Never 0, so that an empty cell matches no second. */
  private long second() {
    return TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - beganNanos) + CELLS;
  }
}
