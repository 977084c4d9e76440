package dev.lockstep.combine;

import java.util.List;

/** The requests that a writer took from a queue at once. Compared by identity. */
final class Batch<Q, A> {
  private final List<Pending<Q, A>> pending;
  private final int taken;
  private volatile List<Delivery.Answer> answers = List.of();

  /**
   * @param taken how many requests left the queue, including abandoned ones
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

  /** Records the answers. Delivering them may take a while. */
  void decided(List<Delivery.Answer> known) {
    answers = known;
  }

  /** The answer to every caller: the decided one, otherwise the given failure. */
  List<Delivery.Answer> settled(Throwable otherwise) {
    List<Delivery.Answer> known = answers;
    return known.isEmpty() ? Pending.allWith(pending, otherwise) : known;
  }
}
