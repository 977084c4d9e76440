package dev.lockstep.outbox;

import org.jspecify.annotations.Nullable;

/** The result of delivering one event. */
public sealed interface SinkResult {
  /** The sink has accepted it for good. */
  SinkResult DELIVERED = new Delivered();

  /** Not sent, because an earlier event of the batch failed. Sent again; no attempt is counted. */
  SinkResult UNSENT = new Unsent();

  record Delivered() implements SinkResult {}

  record Unsent() implements SinkResult {}

  /**
   * Failed, but may succeed later. Its key waits and is retried, and is parked after the last
   * attempt. Other keys go on.
   *
   * @param error for people; null, overlong text and characters that cannot be stored are replaced
   */
  record RetryLater(String error) implements SinkResult {
    public RetryLater(@Nullable String error) {
      this.error = FailureText.of(error);
    }
  }

  /**
   * Can never succeed: its key is parked. Other keys go on.
   *
   * @param error as in {@link RetryLater}
   */
  record Poison(String error) implements SinkResult {
    public Poison(@Nullable String error) {
      this.error = FailureText.of(error);
    }
  }

  /**
   * The sink as a whole is down. Deliveries pause, longer each time; no attempt is counted. They
   * resume when the sink works again.
   *
   * @param reason as the error of {@link RetryLater}
   */
  record Down(String reason) implements SinkResult {
    public Down(@Nullable String reason) {
      this.reason = FailureText.of(reason);
    }
  }
}
