package dev.lockstep.combine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** The requests that wait for one key. Guarded by the combiner's lock. */
final class KeyQueue<K, Q, A> {
  private final K key;
  private final ArrayDeque<Pending<Q, A>> queue = new ArrayDeque<>();

  KeyQueue(K key) {
    this.key = key;
  }

  K key() {
    return key;
  }

  int size() {
    return queue.size();
  }

  void add(Pending<Q, A> pending) {
    queue.add(pending);
  }

  /** Takes up to {@code max} requests in arrival order, and drops abandoned ones. */
  Batch<Q, A> take(int max) {
    List<Pending<Q, A>> taken = new ArrayList<>(Math.min(max, queue.size()));
    int before = queue.size();
    while (taken.size() < max && !queue.isEmpty()) {
      Pending<Q, A> next = queue.remove();
      if (!next.abandoned()) {
        taken.add(next);
      }
    }
    return new Batch<>(taken, before - queue.size());
  }

  List<Pending<Q, A>> clear() {
    List<Pending<Q, A>> rest = List.copyOf(queue);
    queue.clear();
    return rest;
  }
}
