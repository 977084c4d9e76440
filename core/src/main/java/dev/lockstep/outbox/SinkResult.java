package dev.lockstep.outbox;

import org.jspecify.annotations.Nullable;

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
   *
   * @param error for people; of null, too long a text or characters that cannot be stored is made
   *     what can be
   */
  record Retry(String error) implements SinkResult {
    public Retry(@Nullable String error) {
      this.error = Texts.reason(error);
    }
  }

  /**
   * It will never succeed as it is: its key is parked. Other keys go on.
   *
   * @param error as of {@link Retry}
   */
  record Poison(String error) implements SinkResult {
    public Poison(@Nullable String error) {
      this.error = Texts.reason(error);
    }
  }

  /**
   * The sink as a whole does not work. Nothing is sent for a while, and longer each time; no
   * attempt is counted, and it heals by itself.
   *
   * @param reason as the error of {@link Retry}
   */
  record Down(String reason) implements SinkResult {
    public Down(@Nullable String reason) {
      this.reason = Texts.reason(reason);
    }
  }
}
