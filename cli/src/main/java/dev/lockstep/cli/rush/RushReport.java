package dev.lockstep.cli.rush;

import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The result of a rush.
 *
 * @param asked buyers in total
 * @param sold buyers who got their item
 * @param refused buyers who did not, by reason
 * @param unanswered buyers who got no answer, or a server error
 * @param took from the first request to the last answer
 * @param checks conditions that the numbers must meet
 */
public record RushReport(
    String campaign,
    String name,
    int asked,
    int sold,
    SortedMap<String, Integer> refused,
    int unanswered,
    Duration took,
    Percentiles latency,
    List<Check> checks) {

  /** How long purchases took, in milliseconds. */
  public record Percentiles(double p50Ms, double p95Ms, double p99Ms) {}

  /** One line of the proof. */
  public record Check(String what, String found, boolean ok) {}

  public RushReport {
    refused = new TreeMap<>(refused);
    checks = List.copyOf(checks);
  }

  public int refusedInAll() {
    return refused.values().stream().mapToInt(Integer::intValue).sum();
  }

  public boolean ok() {
    return checks.stream().allMatch(Check::ok);
  }
}
