package dev.lockstep.once;

/** The outcome of {@link Once#call}. */
public sealed interface OnceResult {

  /**
   * The effect has happened, once.
   *
   * @param replayed it happened before; this is its answer
   */
  record Done(String answer, boolean replayed) implements OnceResult {}

  /** The same request has begun and not answered yet; ask again later. */
  record InUse() implements OnceResult {}

  /** The key belongs to another request; nothing was changed. */
  record Reused() implements OnceResult {}
}
