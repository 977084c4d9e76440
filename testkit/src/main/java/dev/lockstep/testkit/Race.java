package dev.lockstep.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Runs callers that all start at the same moment.
 *
 * <pre>{@code
 * RaceResult<Boolean> result = Race.<Boolean>of(16).run(i -> buyLastSeat("buyer-" + i));
 * assertThat(result.valuesOrThrow()).containsOnlyOnce(true);
 * }</pre>
 *
 * <p>Each caller has its own thread, {@code race-0} and so on, and none begins before all are
 * ready. The race ends when all have ended, or fails with an {@link AssertionError} that shows
 * where the stuck ones are. Immutable and thread-safe.
 */
public final class Race<T extends @Nullable Object> {

  private static final Duration TIMEOUT_DEFAULT = Duration.ofSeconds(60);
  private static final int CALLERS_MAX = 10_000;

  /** The work of one caller. */
  @FunctionalInterface
  public interface Caller<T extends @Nullable Object> {
    /** Runs as the caller with this number; the first is 0. */
    T call(int index) throws Exception;
  }

  private final int callers;
  private final Duration timeout;

  private Race(int callers, Duration timeout) {
    this.callers = callers;
    this.timeout = timeout;
  }

  /** A race of this many callers, to end within 60 seconds. */
  public static <T extends @Nullable Object> Race<T> of(int callers) {
    if (callers < 1 || callers > CALLERS_MAX) {
      throw new IllegalArgumentException(
          "a race has 1 to " + CALLERS_MAX + " callers, not " + callers);
    }
    return new Race<>(callers, TIMEOUT_DEFAULT);
  }

  /** With another time limit. */
  public Race<T> within(Duration limit) {
    return new Race<>(callers, limit);
  }

  /**
   * Runs the race.
   *
   * @throws AssertionError if it does not end in time; the callers are interrupted and left behind
   */
  public RaceResult<T> run(Caller<T> caller) throws InterruptedException {
    CountDownLatch ready = new CountDownLatch(callers);
    CountDownLatch go = new CountDownLatch(1);
    AtomicReferenceArray<RaceResult.Outcome<T>> outcomes = new AtomicReferenceArray<>(callers);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < callers; i++) {
      int index = i;
      Thread thread =
          new Thread(
              () -> {
                ready.countDown();
                outcomes.set(index, outcome(go, caller, index));
              },
              "race-" + i);
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    ready.await();
    go.countDown();
    awaitEnd(threads, outcomes);

    List<RaceResult.Outcome<T>> ordered = new ArrayList<>();
    for (int i = 0; i < callers; i++) {
      ordered.add(outcomes.get(i));
    }
    return new RaceResult<>(ordered);
  }

  private static <T extends @Nullable Object> RaceResult.Outcome<T> outcome(
      CountDownLatch go, Caller<T> caller, int index) {
    try {
      go.await();
      return new RaceResult.Value<>(index, caller.call(index));
    } catch (Throwable e) {
      // Errors too: a caller's failed assertion must reach the test.
      return new RaceResult.Failure<>(index, e);
    }
  }

  private void awaitEnd(List<Thread> threads, AtomicReferenceArray<RaceResult.Outcome<T>> outcomes)
      throws InterruptedException {
    long deadline = System.nanoTime() + timeout.toNanos();
    for (Thread thread : threads) {
      // At least a millisecond: join(0) would wait for ever.
      thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
    }
    List<Thread> stuck = threads.stream().filter(Thread::isAlive).toList();
    if (stuck.isEmpty()) {
      return;
    }
    StringBuilder message =
        new StringBuilder(
            stuck.size()
                + " of "
                + callers
                + " callers did not end within "
                + timeout.toMillis()
                + " ms:");
    for (Thread thread : stuck) {
      message.append("\n").append(thread.getName()).append(" ").append(thread.getState());
      for (StackTraceElement frame : thread.getStackTrace()) {
        message.append("\n    at ").append(frame);
      }
    }
    AssertionError error = new AssertionError(message.toString());
    for (int i = 0; i < callers; i++) {
      // Others may be waiting for one that failed: its failure is the reason then.
      if (outcomes.get(i) instanceof RaceResult.Failure<T> failure) {
        error.addSuppressed(failure.cause());
      }
    }
    stuck.forEach(Thread::interrupt);
    throw error;
  }
}
