package dev.lockstep.lab;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Which of a scenario's two scripts. */
public enum Variant {
  /** As one writes it at first. */
  NAIVE,
  /** The statements that Lockstep sends, or Lockstep itself. */
  LOCKSTEP;

  /** As written in addresses and JSON. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Optional<Variant> of(String label) {
    return Stream.of(values()).filter(one -> one.label().equals(label)).findFirst();
  }
}
