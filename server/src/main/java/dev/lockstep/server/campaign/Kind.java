package dev.lockstep.server.campaign;

import java.util.Locale;

/** What a campaign is. */
public enum Kind {
  /** Positions in layers, and a draw among those who bought them. */
  TRIANGLE,
  /** Products, each so many times. */
  DROP;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Kind of(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }
}
