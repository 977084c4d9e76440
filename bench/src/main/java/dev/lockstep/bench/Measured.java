package dev.lockstep.bench;

import java.util.Comparator;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * One contender at one number of callers.
 *
 * @param acknowledged calls that were answered, warm-up included, which the books must show
 */
record Measured(
    String name,
    int callers,
    double perSecond,
    double p50Ms,
    double p95Ms,
    double p99Ms,
    long acknowledged,
    String skipped) {

  static Measured skipped(String name, int callers, String why) {
    return new Measured(name, callers, 0, 0, 0, 0, 0, why);
  }

  /** From the latencies of the measured calls. */
  static Measured of(
      String name, int callers, Histogram latencies, double seconds, long acknowledged) {
    return new Measured(
        name,
        callers,
        latencies.getTotalCount() / seconds,
        latencies.getValueAtPercentile(50) / 1e6,
        latencies.getValueAtPercentile(95) / 1e6,
        latencies.getValueAtPercentile(99) / 1e6,
        acknowledged,
        "");
  }

  /** For a caller that measured a rate, without single latencies. */
  static Measured rate(String name, double perSecond, long count) {
    return new Measured(name, 1, perSecond, 0, 0, 0, count, "");
  }

  /** The median of several rounds. */
  static Measured median(List<Measured> rounds) {
    return rounds.stream()
        .sorted(Comparator.comparingDouble(Measured::perSecond))
        .toList()
        .get(rounds.size() / 2);
  }

  /** The same, with this many things per call. */
  Measured times(int things) {
    return new Measured(
        name, callers, perSecond * things, p50Ms, p95Ms, p99Ms, acknowledged * things, skipped);
  }

  boolean ran() {
    return skipped.isEmpty();
  }
}
