package dev.lockstep.outbox;

/** What a consumer must do with an event. */
public sealed interface Receipt {
  /** New, and the next of its key: apply its effect in this transaction. */
  record Accepted() implements Receipt {}

  /**
   * Already applied: drop it.
   *
   * @param last the last sequence of its key that was applied
   */
  record Repeated(long last) implements Receipt {}

  /**
   * An earlier event is missing: nothing is recorded.
   *
   * @param expected the missing sequence
   */
  record Missing(long expected) implements Receipt {}
}
