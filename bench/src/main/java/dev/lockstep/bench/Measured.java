package dev.lockstep.bench;

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

  boolean ran() {
    return skipped.isEmpty();
  }
}
