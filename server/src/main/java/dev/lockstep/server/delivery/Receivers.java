package dev.lockstep.server.delivery;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * Decides which receivers may get another request from this node now. Thread-safe; never blocks.
 *
 * <p>A request holds a thread until it is answered. A receiver is quick if its last answer came in
 * time and none is overdue. A quick receiver may use its full bound. All others, slow or unknown,
 * share half of the threads, and each may take an eighth of what is free in that half: early ones
 * get their bound, later ones less, and a newcomer still finds a thread behind two dozen that never
 * answer. A delivery without a thread steps aside for as long as its receiver has kept others
 * waiting: briefly if it is busy, long if it is silent.
 */
final class Receivers {
  /** The number of receivers whose speed is remembered. */
  static final int MAX_REMEMBERED = 10_000;

  private static final int SHARE_OF_ONE = 8;
  private static final Duration LEAST_ASIDE = Duration.ofMillis(200);

  private final DeliveryConfig config;
  private final LongSupplier nanoTime;
  // Least recently used first.
  private final Map<String, State> states = new LinkedHashMap<>(16, 0.75f, true);
  // Receivers with requests in flight: no more than there are threads.
  private final Set<State> busy = new HashSet<>();

  /** The answer to a request for a thread. */
  sealed interface Admission {
    /** A thread was granted; return it by {@link #leave}. */
    record Entered(String receiver, long sinceNanos) implements Admission {}

    record Aside(Duration time) implements Admission {}
  }

  private static final class State {
    private final List<Long> since = new ArrayList<>();
    private boolean answered;
    private long lastTookNanos;
  }

  Receivers(DeliveryConfig config, LongSupplier nanoTime) {
    this.config = config;
    this.nanoTime = nanoTime;
  }

  synchronized Admission enter(String receiver) {
    long now = nanoTime.getAsLong();
    State state = states.computeIfAbsent(receiver, name -> new State());
    forgetOldest();
    int bound = isQuick(state, now) ? config.perReceiver() : share(state, now);
    if (state.since.size() < bound) {
      state.since.add(now);
      busy.add(state);
      return new Admission.Entered(receiver, now);
    }
    return new Admission.Aside(aside(state, now));
  }

  synchronized void leave(Admission.Entered place) {
    State state = states.get(place.receiver());
    if (state != null && state.since.remove(place.sinceNanos())) {
      state.answered = true;
      state.lastTookNanos = nanoTime.getAsLong() - place.sinceNanos();
      if (state.since.isEmpty()) {
        busy.remove(state);
      }
    }
  }

  /** The receivers remembered, idle or not. */
  synchronized int size() {
    return states.size();
  }

  private boolean isQuick(State state, long now) {
    long bound = config.slowAfter().toNanos();
    return state.answered && state.lastTookNanos <= bound && longestNanos(state, now) <= bound;
  }

  /** The age of its oldest request in flight. */
  private static long longestNanos(State state, long now) {
    return state.since.stream().mapToLong(since -> now - since).max().orElse(0);
  }

  /** Its share of the half for receivers that are not quick. */
  private int share(State state, long now) {
    int taken =
        busy.stream()
            .filter(other -> other != state && !isQuick(other, now))
            .mapToInt(other -> other.since.size())
            .sum();
    int free = config.concurrency() / 2 - taken;
    return Math.min(Math.min(config.perReceiver(), free), Math.max(1, free / SHARE_OF_ONE));
  }

  /** Randomized, so that deliveries that step aside together do not return together. */
  private Duration aside(State state, long now) {
    long waited = Math.max(longestNanos(state, now), state.lastTookNanos);
    long bound = Math.max(LEAST_ASIDE.toNanos(), Math.min(waited, config.maxAside().toNanos())) + 1;
    return Duration.ofNanos(bound / 2 + ThreadLocalRandom.current().nextLong(bound));
  }

  private void forgetOldest() {
    Iterator<State> oldest = states.values().iterator();
    while (states.size() > MAX_REMEMBERED && oldest.hasNext()) {
      if (oldest.next().since.isEmpty()) {
        oldest.remove();
      }
    }
  }
}
