package dev.lockstep.server.api;

import java.util.Locale;

/** Who a key belongs to, and so what it may do. */
public enum Role {
  /** Runs the place: everything. */
  OPERATOR,
  /** A shop's own backend: acts for any buyer. */
  SERVICE,
  /** One buyer: acts for itself only. */
  BUYER;

  /** As written in JSON. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Role of(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }
}
