package dev.lockstep.server.campaign;

import java.util.Locale;

/** What a campaign sells. */
public enum CampaignKind {
  /** Positions in layers, with a draw among their buyers. */
  TRIANGLE,
  /** Products with a count each. */
  DROP;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  static CampaignKind of(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }
}
