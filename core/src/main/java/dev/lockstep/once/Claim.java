package dev.lockstep.once;

import java.time.Instant;

/** The state of a key when a caller claims it. */
public sealed interface Claim {

  /**
   * The key was free and is now the caller's: run the effect and call {@link Once#answer}.
   *
   * @param claimedAt when it was claimed, on the database's clock; tells this claim from a later
   *     one of the same key, made after this one expired
   */
  record Fresh(OnceKey key, Instant claimedAt) implements Claim {}

  /** The effect has happened, with this answer. */
  record Answered(String answer) implements Claim {}

  /** The same request has claimed the key and has not answered yet: ask again later. */
  record InUse() implements Claim, OnceResult {}

  /** The key belongs to another request; nothing was changed. */
  record Reused() implements Claim, OnceResult {}
}
