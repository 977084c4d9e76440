package dev.lockstep.prove.work;

import dev.lockstep.prove.fault.Cluster;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Spreads the calls of one workload over the nodes. A node that does not answer holds up at most
 * its share of the clients; the rest use other nodes. Thread-safe.
 */
final class Traffic {
  private static final long PAUSE_MS = 20;
  private static final int PATIENCE_STEPS = 500;

  private final Cluster cluster;
  private final int share;
  private final AtomicIntegerArray waiting;

  Traffic(Cluster cluster, int clients) {
    this.cluster = cluster;
    this.share = (clients + cluster.size() - 1) / cluster.size();
    this.waiting = new AtomicIntegerArray(cluster.size());
  }

  /** Chooses a node that runs and has room; call {@link #done} when it has answered. */
  int choose(Random random) throws InterruptedException {
    int size = cluster.size();
    int first = random.nextInt(size);
    for (int step = 0; step < PATIENCE_STEPS; step++) {
      for (int i = 0; i < size; i++) {
        int node = (first + i) % size;
        if (cluster.isReady(node)) {
          if (waiting.incrementAndGet(node) <= share) {
            return node;
          }
          waiting.decrementAndGet(node);
        }
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
    }
    waiting.incrementAndGet(first);
    return first;
  }

  void done(int node) {
    waiting.decrementAndGet(node);
  }
}
