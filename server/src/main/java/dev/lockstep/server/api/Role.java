package dev.lockstep.server.api;

import java.util.Locale;

/** What kind of caller a key belongs to, and so what it may do. */
public enum Role {
  /** Runs the service: may do everything. */
  OPERATOR,
  /** A shop's backend: acts for any buyer. */
  SERVICE,
  /** One buyer: acts only for itself. */
  BUYER;

  /** The form used in JSON. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Role of(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }
}
