package dev.lockstep.server.campaign;

import java.util.Locale;

/** The stored status of a campaign. "Sold out" and "drawn" are derived from other tables. */
public enum CampaignStatus {
  DRAFT,
  PUBLISHED,
  CLOSED;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  static CampaignStatus of(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }
}
