package dev.lockstep.combine;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Visits keys in repeated rounds, as a sweeper does. A key that fails does not cost others their
 * turn: it comes last in the next round. If a key fails there again, the remaining failed keys wait
 * for the round after. Many locked keys thus cost a round one lock timeout, not one each.
 *
 * <p>Thread-safe.
 */
public final class Rounds<K> {
  // Guarded by this. Keys whose last visit failed, longest ago first.
  private final Set<K> failing = new LinkedHashSet<>();

  /**
   * Visits the keys in order; those that failed in the previous round come last.
   *
   * @return the sum of what the visits return
   * @throws RuntimeException the first failure, after the other keys had their turn; further
   *     failures are suppressed in it. Thrown at once if the thread is interrupted.
   */
  public int each(Collection<K> keys, ToIntFunction<? super K> visit) {
    List<K> last = failingOf(keys);
    Round round = new Round(visit);
    for (K key : keys) {
      if (!last.contains(key)) {
        round.visit(key);
      }
    }
    for (K key : last) {
      if (!round.visit(key)) {
        break;
      }
    }
    return round.end();
  }

  private synchronized List<K> failingOf(Collection<K> keys) {
    failing.retainAll(Set.copyOf(keys));
    return List.copyOf(failing);
  }

  private synchronized void note(K key, boolean succeeded) {
    failing.remove(key);
    if (!succeeded) {
      failing.add(key);
    }
  }

  private final class Round {
    private final ToIntFunction<? super K> visit;
    private @Nullable RuntimeException first;
    private int sum;

    Round(ToIntFunction<? super K> visit) {
      this.visit = visit;
    }

    boolean visit(K key) {
      try {
        sum += visit.applyAsInt(key);
        note(key, true);
        return true;
      } catch (RuntimeException e) {
        note(key, false);
        if (first == null) {
          first = e;
        } else if (first != e) {
          first.addSuppressed(e);
        }
        if (Thread.currentThread().isInterrupted()) {
          throw first;
        }
        return false;
      }
    }

    int end() {
      if (first != null) {
        throw first;
      }
      return sum;
    }
  }
}
