package dev.lockstep.once;

/**
 * The outcome of {@link Once#call}: {@link Completed}, {@link Claim.InUse} or {@link Claim.Reused}.
 */
public sealed interface OnceResult permits OnceResult.Completed, Claim.InUse, Claim.Reused {

  /**
   * The effect has happened, once.
   *
   * @param replayed it happened before; this is its answer
   */
  record Completed(String answer, boolean replayed) implements OnceResult {}
}
