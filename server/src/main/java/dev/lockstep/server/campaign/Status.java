package dev.lockstep.server.campaign;

import java.util.Locale;

/** Where a campaign is in its life, as stored; that it is sold out is seen from its stock. */
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
