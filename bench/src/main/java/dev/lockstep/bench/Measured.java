package dev.lockstep.bench;

import java.util.Comparator;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * One contender at one number of callers.
 *
 * @param acknowledged calls that were answered, warm-up included: what the books must show
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

  /** From the latencies of the calls that were measured. */
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

  /** Of one caller that measured how many a second, and nothing about single ones. */
  static Measured rate(String name, double perSecond, long count) {
    return new Measured(name, 1, perSecond, 0, 0, 0, count, "");
  }

  /** Of several rounds the one in the middle. */
  static Measured median(List<Measured> rounds) {
    return rounds.stream()
        .sorted(Comparator.comparingDouble(Measured::perSecond))
        .toList()
        .get(rounds.size() / 2);
  }

  /** The same when each call did so many things at once. */
  Measured times(int things) {
    return new Measured(
        name, callers, perSecond * things, p50Ms, p95Ms, p99Ms, acknowledged * things, skipped);
  }

  boolean ran() {
    return skipped.isEmpty();
  }
}
