package dev.lockstep.outbox;

/** What came of one event. */
public sealed interface SinkResult {
  /** The sink has it for good. */
  SinkResult DELIVERED = new Delivered();

  /** Not sent, and no fault of its own: something before it in the batch failed. Sent again. */
  SinkResult UNSENT = new Unsent();

  record Delivered() implements SinkResult {}

  record Unsent() implements SinkResult {}

  /**
   * It failed, and may succeed another time. Its key waits and is tried again; when the attempts
   * are used up it is parked. Other keys go on.
   */
  record Retry(String error) implements SinkResult {}

  /** It will never succeed as it is: its key is parked. Other keys go on. */
  record Poison(String error) implements SinkResult {}

  /**
   * The sink as a whole does not work. Nothing is sent for a while, and longer each time; no
   * attempt is counted, and it heals by itself.
   */
  record Down(String reason) implements SinkResult {}
}
