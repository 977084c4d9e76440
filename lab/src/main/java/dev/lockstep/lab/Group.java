package dev.lockstep.lab;

import java.util.Locale;

/** The topic of a scenario. The catalogue is ordered by it. */
public enum Group {
  SALES("Selling the last one"),
  QUEUES("Jobs and events"),
  LOCKS("Locks and retries"),
  VERSIONS("Versions of a row"),
  ANOMALIES("The anomalies of isolation");

  private final String title;

  Group(String title) {
    this.title = title;
  }

  public String title() {
    return title;
  }

  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
