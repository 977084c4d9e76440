package dev.lockstep.job;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Jobs that somebody on this node has changed lately, in transactions of which nobody here knows
 * whether they have committed: a read may still return them as they were. Guarded by the board's
 * lock.
 */
final class Doubts {
  /** Of a transaction that takes longer it is the age of what was read that tells. */
  private static final Duration KEPT = Duration.ofMinutes(1);

  private static final int MAX = 50_000;

  private final Map<JobId, Long> sinceNanos = new LinkedHashMap<>();

  void add(JobId id) {
    // To the end: the first are the oldest.
    sinceNanos.remove(id);
    sinceNanos.put(id, System.nanoTime());
    if (sinceNanos.size() > MAX) {
      sinceNanos.remove(sinceNanos.keySet().iterator().next());
    }
  }

  boolean has(JobId id) {
    return !sinceNanos.isEmpty() && sinceNanos.containsKey(id);
  }

  void forgetOld() {
    long now = System.nanoTime();
    sinceNanos.values().removeIf(since -> now - since > KEPT.toNanos());
  }
}
