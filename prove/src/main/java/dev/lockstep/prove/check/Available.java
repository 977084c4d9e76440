package dev.lockstep.prove.check;

import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.List;

/** What was available in one account after each entry, and the earliest and latest time of that. */
final class Available {
  private final List<Long> amounts = new ArrayList<>();
  // By entry: the latest start so far of a call that made one, and when its own call ended.
  private final List<Long> latestStart = new ArrayList<>();
  private final List<Long> end = new ArrayList<>();

  Available(long floor) {
    amounts.add(-floor);
    latestStart.add(Long.MIN_VALUE);
    end.add(Long.MIN_VALUE);
  }

  /**
   * Adds an entry.
   *
   * @param by calls that say they made it; empty if that is not known
   */
  void add(long amount, List<Op> by) {
    long start = latestStart.get(latestStart.size() - 1);
    long ended = Long.MAX_VALUE;
    for (Op op : by) {
      start = Math.max(start, op.start());
      ended = Math.min(ended, op.end());
    }
    amounts.add(amount);
    latestStart.add(start);
    end.add(ended);
  }

  /** Whether this much was available at an instant of the call. */
  boolean ever(long amount, Op call) {
    int low = 0;
    int high = amounts.size();
    // The first entry that began after the call had ended, and all that follow, are too late.
    while (low < high) {
      int middle = (low + high) / 2;
      if (latestStart.get(middle) > call.end()) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    for (int i = low - 1; i >= 0; i--) {
      if (amounts.get(i) == amount) {
        return true;
      }
      if (end.get(i) < call.start()) {
        // This entry was there before the call, so earlier amounts no longer were.
        return false;
      }
    }
    return false;
  }
}
