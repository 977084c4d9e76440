package dev.lockstep.outbox;

import java.time.Duration;
import java.util.Optional;

/**
 * A sink of a stream, as it is defined.
 *
 * @param name unique in its stream
 * @param type one of {@link SinkTypes}
 * @param settings read by the type: a topic, an address, JSON
 * @param start where a new sink begins; means nothing for one that is there
 * @param giveUpAfter for how long events are kept for it when it does not take them; what is older
 *     is lost to this sink then, and the audit says so. Empty: for ever
 */
public record SinkSpec(
    String name, String type, String settings, Start start, Optional<Duration> giveUpAfter) {

  /** Where a new sink begins. */
  public enum Start {
    /** With everything that is still kept. */
    BEGINNING,
    /** With what is committed from now on. */
    NOW
  }

  public SinkSpec {
    Texts.requireLine("A sink", name, Texts.MAX_NAME_LENGTH);
    Texts.requireLine("A sink's type", type, Texts.MAX_NAME_LENGTH);
    if (!settings.isEmpty()) {
      Texts.require("A sink's settings", settings, Texts.MAX_SETTINGS_LENGTH);
    }
    if (giveUpAfter.filter(d -> d.toSeconds() < 1).isPresent()) {
      throw new IllegalArgumentException("giveUpAfter is at least a second");
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
