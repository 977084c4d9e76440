package dev.lockstep.prove.history;

/** What a client knows about its call. */
public enum Status {
  /** It happened. */
  OK,
  /** It did not happen, and the answer says why; the reason had to be true. */
  REFUSED,
  /** It did not happen: a fault. */
  FAILED,
  /** It may have happened, or may happen later. */
  UNKNOWN
}
