package dev.lockstep.outbox;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a consumer got, checked as it comes: for each key 1, 2, 3 …, repeats aside. Thread-safe. */
final class ConsumerLog {
  private final Map<String, Long> last = new HashMap<>();
  private final List<String> faults = new ArrayList<>();
  private long count;
  private long repeats;

  synchronized void note(String key, long seq) {
    long before = last.getOrDefault(key, 0L);
    if (seq == before + 1) {
      count++;
    } else if (seq <= before) {
      repeats++;
      return;
    } else if (faults.size() < 20) {
      faults.add("%s: %d came after %d".formatted(key, seq, before));
    }
    last.put(key, seq);
  }

  /** First occurrences. */
  synchronized long count() {
    return count;
  }

  synchronized long repeats() {
    return repeats;
  }

  synchronized List<String> faults() {
    return List.copyOf(faults);
  }

  /** The last of each key. */
  synchronized Map<String, Long> last() {
    return Map.copyOf(last);
  }
}
