package dev.lockstep.once;

/** What came of {@link Once#run}. */
public sealed interface OnceResult {

  /**
   * The effect has happened, once.
   *
   * @param replayed it had happened before; this is the answer of that time
   */
  record Done(String answer, boolean replayed) implements OnceResult {}

  /** A twin has begun and not yet answered; ask again later. */
  record InUse() implements OnceResult {}

  /** The key belongs to another request; nothing was done. */
  record Reused() implements OnceResult {}
}
