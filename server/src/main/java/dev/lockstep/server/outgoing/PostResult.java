package dev.lockstep.server.outgoing;

import java.time.Duration;
import java.util.Optional;

/** What came of a request. */
public sealed interface PostResult {

  /**
   * The receiver answered. A redirect is an answer like others, and is not followed.
   *
   * @param retryAfter when it wants to be asked again, if it said so
   * @param body the beginning of what it said, for people
   */
  record Answered(int status, Optional<Duration> retryAfter, String body) implements PostResult {
    public boolean isSuccess() {
      return status / 100 == 2;
    }
  }

  /** Not sent: the target is not one that may be sent to. */
  record Refused(String reason) implements PostResult {}

  /** No answer: not reached, not in time, or the connection was lost. It may have been received. */
  record Failed(String reason) implements PostResult {}
}
