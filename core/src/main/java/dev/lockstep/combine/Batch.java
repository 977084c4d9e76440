package dev.lockstep.combine;

import java.util.List;

/**
 * What one writer took from a lane at once. Compared by identity: two batches are never the same.
 */
final class Batch<Q, A> {
  private final List<Pending<Q, A>> pending;
  private final int taken;
  private volatile List<Delivery.Answer> answers = List.of();

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

  /** The answers are known. Not yet delivered: that may take a while. */
  void decided(List<Delivery.Answer> known) {
    answers = known;
  }

  /** Answers everyone now: as decided, else with this. */
  void settle(Throwable otherwise) {
    answers.forEach(answer -> answer.complete().run());
    pending.forEach(p -> p.answer().completeExceptionally(otherwise));
  }
}
