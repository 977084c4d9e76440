package dev.lockstep.lab;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** One of a scenario's two scripts. */
public enum Variant {
  /** The obvious first attempt. */
  NAIVE,
  /** The statements that Lockstep sends, or Lockstep itself. */
  LOCKSTEP;

  /** In URLs and JSON. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Optional<Variant> of(String label) {
    return Stream.of(values()).filter(one -> one.label().equals(label)).findFirst();
  }
}
