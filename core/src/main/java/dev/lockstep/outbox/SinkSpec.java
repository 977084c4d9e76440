package dev.lockstep.outbox;

import java.time.Duration;
import java.util.Optional;

/**
 * The definition of a stream's sink.
 *
 * @param name unique in its stream
 * @param type one of {@link SinkTypes}
 * @param settings parsed by the type: a topic, an address, JSON
 * @param start where a new sink begins; ignored for an existing one
 * @param giveUpAfter how long undelivered events are kept for it, up to ten years; older ones are
 *     lost to this sink, and the audit records it. Empty: for ever
 */
public record SinkSpec(
    String name, String type, String settings, Start start, Optional<Duration> giveUpAfter) {

  /** Where a new sink begins. */
  public enum Start {
    /** With everything still kept. */
    BEGINNING,
    /** With events committed from now on. */
    NOW
  }

  public SinkSpec {
    TextLimits.requireLine("A sink", name, TextLimits.MAX_NAME_LENGTH);
    TextLimits.requireLine("A sink's type", type, TextLimits.MAX_NAME_LENGTH);
    if (!settings.isEmpty()) {
      TextLimits.require("A sink's settings", settings, TextLimits.MAX_SETTINGS_LENGTH);
    }
    if (giveUpAfter
        .filter(d -> d.toSeconds() < 1 || d.compareTo(OutboxConfig.LONGEST) > 0)
        .isPresent()) {
      throw new IllegalArgumentException("giveUpAfter must be 1 s to ten years; empty: for ever");
    }
  }

  public static SinkSpec of(String name, String type, String settings) {
    return new SinkSpec(name, type, settings, Start.BEGINNING, Optional.empty());
  }

  public SinkSpec startingNow() {
    return new SinkSpec(name, type, settings, Start.NOW, giveUpAfter);
  }

  public SinkSpec givingUpAfter(Duration time) {
    return new SinkSpec(name, type, settings, start, Optional.of(time));
  }
}
