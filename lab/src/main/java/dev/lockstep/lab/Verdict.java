package dev.lockstep.lab;

import java.util.List;

/**
 * The answer to the question, computed from what the sessions saw.
 *
 * @param anomaly whether it happened
 * @param sentence what was seen, in words
 * @param refusals the SQLSTATEs that sessions got, sorted, each once
 * @param waited whether a session waited for another
 */
public record Verdict(boolean anomaly, String sentence, List<String> refusals, boolean waited) {
  public Verdict {
    refusals = List.copyOf(refusals);
  }

  /** For a table: {@code happens}, or {@code prevented} and by what. */
  public String brief() {
    if (anomaly) {
      return "happens";
    }
    if (!refusals.isEmpty()) {
      return "prevented, " + String.join(" ", refusals);
    }
    return waited ? "prevented, waits" : "prevented";
  }
}
