package dev.lockstep.bench;

/**
 * What a benchmark is meant to show.
 *
 * @param ratio what was measured
 * @param atLeast true: the ratio must reach the target; false: it must not pass it
 */
record Aim(String aim, double ratio, double target, boolean atLeast) {
  boolean met() {
    return atLeast ? ratio >= target : ratio <= target;
  }
}
