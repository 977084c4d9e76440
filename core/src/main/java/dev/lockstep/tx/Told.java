package dev.lockstep.tx;

/** What {@link Transactor#exchange} reports for one request. */
public sealed interface Told<A> {
  /** The answer is certain. */
  record Answer<A>(A answer) implements Told<A> {}

  /** The answer holds only if a lost attempt never commits, which cannot be known. */
  record Unknown<A>(OutcomeUnknown why) implements Told<A> {}
}
