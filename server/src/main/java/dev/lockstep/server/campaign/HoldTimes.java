package dev.lockstep.server.campaign;

import dev.lockstep.hold.ExtensionBound;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Shape;
import io.vertx.core.json.JsonObject;
import java.time.Duration;

/**
 * How long a campaign's holds last, and how far a buyer can stretch that. Operators and services
 * extend as they see fit.
 *
 * @param holdSeconds for how long a hold is taken, and the most that one extension gives from then
 *     on
 * @param maxExtensions how often a buyer may extend a hold
 * @param maxHoldSeconds how long a buyer can keep a hold in all
 */
public record HoldTimes(int holdSeconds, int maxExtensions, int maxHoldSeconds) {
  private static final int DEFAULT_SECONDS = 900;
  private static final int MAX_SECONDS = 24 * 60 * 60;
  private static final int DEFAULT_EXTENSIONS = 1;
  private static final int MAX_EXTENSIONS = 100;
  private static final int MAX_SECONDS_IN_ALL = 48 * 60 * 60;

  static final Shape SECONDS = Shape.integer(1, MAX_SECONDS);
  static final Shape EXTENSIONS = Shape.integer(0, MAX_EXTENSIONS);
  static final Shape SECONDS_IN_ALL = Shape.integer(1, MAX_SECONDS_IN_ALL);

  /** From the body of a new campaign: unless it says otherwise, one extension by as much again. */
  static HoldTimes of(JsonObject body) {
    int seconds = body.getInteger("holdSeconds", DEFAULT_SECONDS);
    int extensions = body.getInteger("maxExtensions", DEFAULT_EXTENSIONS);
    int inAll = Math.min(seconds * (1 + extensions), MAX_SECONDS_IN_ALL);
    HoldTimes times = new HoldTimes(seconds, extensions, body.getInteger("maxHoldSeconds", inAll));
    if (times.maxHoldSeconds < seconds) {
      throw Problem.invalid("maxHoldSeconds", "must not be less than holdSeconds, " + seconds)
          .asException();
    }
    return times;
  }

  Duration holdFor() {
    return Duration.ofSeconds(holdSeconds);
  }

  ExtensionBound bound() {
    return new ExtensionBound(maxExtensions, holdFor(), Duration.ofSeconds(maxHoldSeconds));
  }
}
