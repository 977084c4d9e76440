package dev.lockstep.combine;

import java.time.Duration;

/** What a companion may throw that asks a combiner of its own. */
public final class Overloads {
  private Overloads() {}

  public static CombinerOverloaded ofAnother() {
    try (Combiner<String, Integer, String> another =
        new Combiner<>(RecordingRunner.open(), CombinerConfig.named("another"))) {
      return new CombinerOverloaded(another, "another", 1, Duration.ofMillis(1));
    }
  }
}
