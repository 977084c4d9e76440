package dev.lockstep.combine;

import java.util.List;

/** The requests that a writer took from a lane at once. Compared by identity. */
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

  /** Answers every caller now: with the decided answer, otherwise with the given failure. */
  void settle(Throwable otherwise) {
    answers.forEach(answer -> answer.complete().run());
    pending.forEach(p -> p.answer().completeExceptionally(otherwise));
  }
}
