package dev.lockstep.server.outgoing;

import java.time.Duration;
import java.util.Optional;

/** The result of a request. */
public sealed interface PostResult {

  /**
   * The receiver answered. A redirect is an ordinary answer and is not followed.
   *
   * @param retryAfter when to ask again, if the receiver said so
   * @param body the start of the answer, for people
   */
  record Answered(int status, Optional<Duration> retryAfter, String body) implements PostResult {
    public boolean isSuccess() {
      return status / 100 == 2;
    }
  }

  /** Not sent: the target is not allowed. */
  record Refused(String reason) implements PostResult {}

  /** No answer: unreachable, too slow, or the connection broke. It may have been received. */
  record Failed(String reason) implements PostResult {}
}
