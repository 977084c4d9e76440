package dev.lockstep.outbox;

/** What a consumer is to do with an event. */
public sealed interface Receipt {
  /** It is new and the next of its key: let it have its effect, in this transaction. */
  record Accepted() implements Receipt {}

  /**
   * It has had its effect: drop it.
   *
   * @param last the last of its key that had
   */
  record Repeated(long last) implements Receipt {}

  /**
   * An event before it has not come: nothing is noted.
   *
   * @param expected the sequence that is missing
   */
  record Gap(long expected) implements Receipt {}
}
