package dev.lockstep.server.campaign;

import dev.lockstep.server.api.Shape;
import dev.lockstep.server.setting.Kind;
import dev.lockstep.server.setting.SettingReader;
import java.time.Duration;

/**
 * Bounds and defaults of a campaign's holds.
 *
 * @param lifetime default life of a hold (15 min)
 * @param extensions default number of times a buyer may extend one (once)
 * @param max the longest life a campaign may set (24 h, and never more, because a purchase keeps
 *     its hold that long)
 * @param maxInAll the longest a buyer can keep a hold by extending it (48 h, and never more)
 */
public record HoldRules(Duration lifetime, int extensions, Duration max, Duration maxInAll) {
  public static final Duration LONGEST = Duration.ofDays(1);
  public static final Duration LONGEST_IN_ALL = Duration.ofDays(2);
  public static final int MAX_EXTENSIONS = 100;

  public static final HoldRules DEFAULT =
      new HoldRules(Duration.ofMinutes(15), 1, LONGEST, LONGEST_IN_ALL);

  public HoldRules {
    if (lifetime.toSeconds() < 1
        || lifetime.compareTo(max) > 0
        || max.compareTo(maxInAll) > 0
        || max.compareTo(LONGEST) > 0
        || maxInAll.compareTo(LONGEST_IN_ALL) > 0) {
      throw new IllegalArgumentException("1 s <= lifetime <= max <= 24 h, max <= maxInAll <= 48 h");
    }
    if (extensions < 0 || extensions > MAX_EXTENSIONS) {
      throw new IllegalArgumentException("extensions must be 0 to " + MAX_EXTENSIONS);
    }
  }

  public static HoldRules read(SettingReader in) {
    in.group("Holds");
    HoldRules usual = DEFAULT;
    Duration second = Duration.ofSeconds(1);
    Duration lifetime =
        in.read(
            "hold.lifetime",
            Kind.duration(second, LONGEST),
            usual.lifetime(),
            "How long a hold lasts by default.");
    int extensions =
        in.read(
            "hold.extensions",
            Kind.number(0, MAX_EXTENSIONS),
            usual.extensions(),
            "How often a buyer may extend a hold by default.");
    Duration max =
        in.read(
            "hold.max",
            Kind.duration(second, LONGEST),
            usual.max(),
            "The longest hold that a campaign can ask for.");
    Duration inAll =
        in.read(
            "hold.max-in-all",
            Kind.duration(second, LONGEST_IN_ALL),
            usual.maxInAll(),
            "The longest that a buyer can keep a hold by extending it.");
    in.require(
        lifetime.compareTo(max) <= 0,
        "hold.lifetime",
        "must not exceed",
        "hold.max",
        "campaigns that do not say would be refused");
    in.require(
        max.compareTo(inAll) <= 0,
        "hold.max",
        "must not exceed",
        "hold.max-in-all",
        "the first time counts as well");
    return new HoldRules(lifetime, extensions, max, inAll);
  }

  Shape seconds() {
    return Shape.integer(1, max.toSeconds());
  }

  Shape secondsInAll() {
    return Shape.integer(1, maxInAll.toSeconds());
  }
}
