package dev.lockstep.combine;

import java.util.List;

/**
 * What one writer took from a lane at once. Compared by identity: two batches are never the same.
 */
final class Batch<Q, A> {
  private final List<Pending<Q, A>> pending;
  private final int taken;

  /**
   * @param taken how many left the queue, abandoned ones included
   */
  Batch(List<Pending<Q, A>> pending, int taken) {
    this.pending = pending;
    this.taken = taken;
  }

  List<Pending<Q, A>> pending() {
    return pending;
  }

  int taken() {
    return taken;
  }
}
