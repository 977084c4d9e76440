package dev.lockstep.combine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The lanes of a combiner and their turns. Guarded by the combiner's lock. */
final class Lanes<K, Q, A> {
  // A key has an entry while requests of it wait or run.
  private final Map<K, Lane<K, Q, A>> lanes = new HashMap<>();
  // Lanes from which a batch can be taken, longest waiting first. One may have become unready since
  // it came here; it comes again when its writer leaves.
  private final ArrayDeque<Lane<K, Q, A>> turns = new ArrayDeque<>();
  private int waiting;

  /** A lane, and the batch taken from it. */
  record Taken<K, Q, A>(Lane<K, Q, A> lane, Batch<Q, A> batch) {}

  int waiting() {
    return waiting;
  }

  int waiting(K key) {
    Lane<K, Q, A> lane = lanes.get(key);
    return lane == null ? 0 : lane.size();
  }

  boolean hasTurn() {
    return !turns.isEmpty();
  }

  /** Adds a request. True if there is now something to be written that no writer will come by. */
  boolean add(K key, Half half, Pending<Q, A> pending) {
    Lane<K, Q, A> lane = lanes.computeIfAbsent(key, Lane::new);
    lane.add(half, pending);
    waiting++;
    return offer(lane);
  }

  /** A lane for a writer that brings its own request along; null: others are before it. */
  @Nullable Lane<K, Q, A> claim(K key) {
    if (hasTurn() || lanes.containsKey(key)) {
      return null;
    }
    Lane<K, Q, A> lane = new Lane<>(key);
    lane.claim();
    lanes.put(key, lane);
    return lane;
  }

  /** The next batch; null if there is none to be taken. */
  @Nullable Taken<K, Q, A> next(int maxBatch) {
    for (Lane<K, Q, A> lane = turns.poll(); lane != null; lane = turns.poll()) {
      lane.inTurns(false);
      if (lane.isReady()) {
        Batch<Q, A> batch = lane.take(maxBatch);
        waiting -= batch.taken();
        return new Taken<>(lane, batch);
      }
    }
    return null;
  }

  /** Puts a lane behind the others if a batch can be taken from it. True if it was not there. */
  boolean offer(Lane<K, Q, A> lane) {
    if (lane.isInTurns() || !lane.isReady()) {
      return false;
    }
    lane.inTurns(true);
    turns.add(lane);
    return true;
  }

  /** A writer has done with this half of a lane; when it is empty the lane is forgotten. */
  void leave(Lane<K, Q, A> lane, Half half) {
    lane.leave(half);
    if (lane.size() == 0 && lane.isFree()) {
      lanes.remove(lane.key());
    } else {
      offer(lane);
    }
  }

  /** Forgets whatever waits. */
  List<Pending<Q, A>> clear() {
    List<Pending<Q, A>> rest = new ArrayList<>();
    lanes.values().forEach(lane -> rest.addAll(lane.clear()));
    turns.forEach(lane -> lane.inTurns(false));
    turns.clear();
    waiting = 0;
    return rest;
  }
}
