package dev.lockstep.sql;

import dev.lockstep.fault.OutcomeUnknown;

/** What {@link Transactor#exchange} reports for one request. */
public sealed interface CallResult<A> {
  /** The answer is certain. */
  record Answer<A>(A answer) implements CallResult<A> {}

  /** The answer holds only if a lost attempt never commits, which cannot be known. */
  record Unknown<A>(OutcomeUnknown why) implements CallResult<A> {}
}
