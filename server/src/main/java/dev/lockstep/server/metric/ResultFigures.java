package dev.lockstep.server.metric;

import io.micrometer.core.instrument.Counter;

/** Metrics of fenced results: accepted ones, and those that came too late. */
final class ResultFigures {
  private final Counter accepted;
  private final Counter stale;

  ResultFigures(Metrics metrics, String block) {
    accepted = counter(metrics, block, "accepted");
    stale = counter(metrics, block, "stale");
  }

  void add(int written, int refused) {
    accepted.increment(written);
    stale.increment(refused);
  }

  private static Counter counter(Metrics metrics, String block, String outcome) {
    return metrics.counter(
        "lockstep.results",
        "Fenced results: accepted, or refused as too late.",
        "block",
        block,
        "outcome",
        outcome);
  }
}
