package dev.lockstep.combine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The requests that wait for one key, and the halves of it that have a writer. Guarded by the
 * combiner's lock.
 *
 * <p>As a rule a batch is whatever waits, in the order it came. When many wait for each half, and
 * nobody for both, each half gets a batch of its own, and the two run side by side. Who waits for
 * both is alone then: no half is begun before it.
 */
final class Lane<K, Q, A> {
  /** So many make a batch that is not much dearer, for each of them, than a larger one. */
  static final int MANY = 50;

  private final K key;
  private final Map<Half, ArrayDeque<Waiting<Q, A>>> queues = new EnumMap<>(Half.class);
  private final Set<Half> written = EnumSet.noneOf(Half.class);
  private long arrivals;
  private int size;
  private boolean inTurns;

  /** Numbered in the order of arrival. */
  private record Waiting<Q, A>(long number, Pending<Q, A> pending) {}

  Lane(K key) {
    this.key = key;
    for (Half half : Half.values()) {
      // Of a lone caller nobody ever waits here.
      queues.put(half, new ArrayDeque<>(1));
    }
  }

  K key() {
    return key;
  }

  int size() {
    return size;
  }

  void add(Half half, Pending<Q, A> pending) {
    queue(half).add(new Waiting<>(++arrivals, pending));
    size++;
  }

  /** Whether a batch can be taken now. */
  boolean isReady() {
    return size > 0 && (isFree() || (queue(Half.BOTH).isEmpty() && halfOfMany() != null));
  }

  /** Whether nobody writes it. */
  boolean isFree() {
    return written.isEmpty();
  }

  /** Whether it waits for a writer among the other lanes. */
  boolean isInTurns() {
    return inTurns;
  }

  void inTurns(boolean now) {
    inTurns = now;
  }

  /** Its one writer brings its own request along. */
  void claim() {
    written.add(Half.BOTH);
  }

  /**
   * Up to so many requests in the order they came; abandoned ones are dropped on the way. Only when
   * {@linkplain #isReady() ready}.
   */
  Batch<Q, A> take(int max) {
    Half half = isFree() ? share() : Objects.requireNonNull(halfOfMany());
    written.add(half);
    List<Pending<Q, A>> taken = new ArrayList<>(Math.min(max, size));
    int before = size;
    while (taken.size() < max) {
      ArrayDeque<Waiting<Q, A>> next = half == Half.BOTH ? oldest() : queue(half);
      if (next.isEmpty()) {
        break;
      }
      Pending<Q, A> pending = next.remove().pending();
      size--;
      if (!pending.abandoned()) {
        taken.add(pending);
      }
    }
    return new Batch<>(half, taken, before - size);
  }

  /** The writer of a batch of this half has done. */
  void leave(Half half) {
    written.remove(half);
  }

  List<Pending<Q, A>> clear() {
    List<Pending<Q, A>> rest = new ArrayList<>(size);
    queues.values().forEach(queue -> queue.forEach(waiting -> rest.add(waiting.pending())));
    queues.values().forEach(ArrayDeque::clear);
    size = 0;
    return rest;
  }

  /** What the first batch takes when nobody writes. */
  private Half share() {
    boolean halves =
        queue(Half.BOTH).isEmpty()
            && queue(Half.LEFT).size() >= MANY
            && queue(Half.RIGHT).size() >= MANY;
    if (!halves) {
      return Half.BOTH;
    }
    return oldest() == queue(Half.LEFT) ? Half.LEFT : Half.RIGHT;
  }

  /** A half that many wait for and nobody writes, while the other one is being written. */
  private @Nullable Half halfOfMany() {
    if (written.contains(Half.BOTH)) {
      return null;
    }
    if (isOfMany(Half.LEFT)) {
      return Half.LEFT;
    }
    return isOfMany(Half.RIGHT) ? Half.RIGHT : null;
  }

  private boolean isOfMany(Half half) {
    return queue(half).size() >= MANY && !written.contains(half);
  }

  /** The queue whose first has waited longest; any one if all are empty. */
  private ArrayDeque<Waiting<Q, A>> oldest() {
    ArrayDeque<Waiting<Q, A>> oldest = queue(Half.BOTH);
    oldest = older(oldest, queue(Half.LEFT));
    return older(oldest, queue(Half.RIGHT));
  }

  private static <Q, A> ArrayDeque<Waiting<Q, A>> older(
      ArrayDeque<Waiting<Q, A>> one, ArrayDeque<Waiting<Q, A>> other) {
    return first(other) < first(one) ? other : one;
  }

  private static long first(ArrayDeque<? extends Waiting<?, ?>> queue) {
    Waiting<?, ?> head = queue.peek();
    return head == null ? Long.MAX_VALUE : head.number();
  }

  private ArrayDeque<Waiting<Q, A>> queue(Half half) {
    return Objects.requireNonNull(queues.get(half));
  }
}
