package dev.lockstep.server.campaign;

import java.util.Locale;

/** Where a campaign is in its life, as stored. Sold out and drawn are seen elsewhere. */
public enum Status {
  DRAFT,
  PUBLISHED,
  CLOSED;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Status of(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }
}
