package dev.lockstep.server.campaign;

import dev.lockstep.server.api.Problem;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the slots of live streams, in total and per address. A slot is taken before anything is
 * read for a stream, and freed exactly once. Thread-safe.
 */
final class Watchers {
  private static final Duration RETRY_AFTER = Duration.ofSeconds(5);

  private final int most;
  private final int mostPerNetwork;
  private final AtomicInteger taken = new AtomicInteger();
  private final Map<String, Integer> byNetwork = new ConcurrentHashMap<>();

  Watchers(int most, int mostPerNetwork) {
    this.most = most;
    this.mostPerNetwork = mostPerNetwork;
  }

  /** The slot of one stream. */
  final class Slot {
    private final String network;
    private final AtomicBoolean left = new AtomicBoolean();

    private Slot(String network) {
      this.network = network;
    }

    /** Frees the slot; further calls do nothing. */
    void leave() {
      if (left.compareAndSet(false, true)) {
        taken.decrementAndGet();
        byNetwork.computeIfPresent(network, (key, count) -> count > 1 ? count - 1 : null);
      }
    }
  }

  int taken() {
    return taken.get();
  }

  /**
   * @throws dev.lockstep.server.api.ProblemException when no slot is free
   */
  Slot take(String network) {
    int all = taken.incrementAndGet();
    int same = byNetwork.merge(network, 1, Integer::sum);
    Slot slot = new Slot(network);
    if (all > most) {
      slot.leave();
      throw Problem.overloaded(RETRY_AFTER).asException();
    }
    if (same > mostPerNetwork) {
      slot.leave();
      throw Problem.of(
              "too-many-streams",
              429,
              "Too many streams",
              "This address has too many live streams open; close some.")
          .with("limit", mostPerNetwork)
          .retryAfter(RETRY_AFTER)
          .asException();
    }
    return slot;
  }
}
