package dev.lockstep.gateway;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A webhook to be delivered.
 *
 * @param answer the idempotency key whose stored answer contains its object; null: no answer does
 * @param headLength the length of the body before that object
 * @param attempts failed attempts so far
 * @param delay a fault: the extra delay before it is sent
 */
record Event(
    String id,
    String type,
    String body,
    @Nullable String answer,
    int headLength,
    int attempts,
    Duration delay) {

  /** An event read from its table, with its whole body. */
  static Event stored(String id, String type, String body, int attempts) {
    return new Event(id, type, body, null, 0, attempts, Duration.ZERO);
  }

  /** The part of the body to store: an object that is an answer is stored with that already. */
  String kept() {
    return answer == null ? body : body.substring(0, headLength);
  }
}
