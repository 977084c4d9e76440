package dev.lockstep.tx;

/** What leaves {@link Transactor#exchange} for one request. */
public sealed interface Told<A> {
  /** It is so. */
  record Answer<A>(A answer) implements Told<A> {}

  /** The answer holds only if an attempt that was lost never commits, and nobody can tell. */
  record Unknown<A>(OutcomeUnknown why) implements Told<A> {}
}
