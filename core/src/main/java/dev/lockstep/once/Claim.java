package dev.lockstep.once;

import java.time.Instant;

/** What a key is found to be when somebody wants to use it. */
public sealed interface Claim {

  /**
   * The key is new and now the caller's: do the effect and {@link Once#answer}.
   *
   * @param claimedAt tells this claim from a later one of the same key, made when this one had
   *     expired; by the database's clock
   */
  record Fresh(OnceKey key, Instant claimedAt) implements Claim {}

  /** The effect has happened; this was the answer. */
  record Answered(String answer) implements Claim {}

  /** A twin has begun and not yet answered. */
  record InUse() implements Claim {}

  /** The key belongs to another request. */
  record Reused() implements Claim {}
}
