package dev.lockstep.once;

/** What a key is found to be when somebody wants to use it. */
public sealed interface Claim {

  /** The key is new and now the caller's: do the effect and {@link Once#answer}. */
  record Fresh() implements Claim {}

  /** The effect has happened; this was the answer. */
  record Answered(String answer) implements Claim {}

  /** A twin has begun and not yet answered. */
  record InUse() implements Claim {}

  /** The key belongs to another request. */
  record Reused() implements Claim {}
}
