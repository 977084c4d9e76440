package dev.lockstep.server.campaign;

import dev.lockstep.hold.ExtensionBound;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Shape;
import io.vertx.core.json.JsonObject;
import java.time.Duration;

/**
 * How long a campaign's holds last, and how far buyers can extend them. Operators and services
 * extend as they see fit.
 *
 * @param holdSeconds the life of a new hold, and the most that a hold has left after an extension
 * @param maxExtensions how often a buyer may extend a hold
 * @param maxHoldSeconds how long a buyer can keep a hold in total
 */
public record HoldTimes(int holdSeconds, int maxExtensions, int maxHoldSeconds) {
  /** For existing campaigns, whatever rules they were created under. */
  static final Shape SECONDS = Shape.integer(1, HoldRules.LONGEST.toSeconds());

  static final Shape EXTENSIONS = Shape.integer(0, HoldRules.MAX_EXTENSIONS);
  static final Shape SECONDS_IN_ALL = Shape.integer(1, HoldRules.LONGEST_IN_ALL.toSeconds());

  /** Reads the body of a new campaign. By default, each extension grants the same time again. */
  static HoldTimes of(JsonObject body, HoldRules rules) {
    int seconds = body.getInteger("holdSeconds", Math.toIntExact(rules.lifetime().toSeconds()));
    int extensions = body.getInteger("maxExtensions", rules.extensions());
    int inAll = (int) Math.min(seconds * (1L + extensions), rules.maxInAll().toSeconds());
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
