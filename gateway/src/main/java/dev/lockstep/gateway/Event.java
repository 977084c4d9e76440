package dev.lockstep.gateway;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A webhook to be delivered.
 *
 * @param answer the key under which the object it tells of was answered; null: it is none of those
 * @param headLength how much of the body comes before that object
 * @param attempts how often it was tried in vain
 * @param delay a fault: how much later than usual to send it
 */
record Event(
    String id,
    String type,
    String body,
    @Nullable String answer,
    int headLength,
    int attempts,
    Duration delay) {

  /** One that was read from its table, whole. */
  static Event stored(String id, String type, String body, int attempts) {
    return new Event(id, type, body, null, 0, attempts, Duration.ZERO);
  }

  /** What has to be kept of the body: an object that is an answer is kept there already. */
  String kept() {
    return answer == null ? body : body.substring(0, headLength);
  }
}
