package dev.lockstep.job;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Remembers jobs recently changed on this node in transactions whose outcome the worker does not
 * know. A read may still return their old rows. Guarded by the memory's lock.
 */
final class RecentChanges {
  /**
   * Long enough for most transactions. For longer ones, {@link RowCheck} checks the row by its age.
   */
  private static final Duration KEPT = Duration.ofMinutes(1);

  private static final int MAX = 50_000;

  private final Map<JobId, Long> sinceNanos = new LinkedHashMap<>();

  void add(JobId id) {
    // Re-insert at the end, so that the first entry is the oldest.
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
