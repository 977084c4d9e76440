package dev.lockstep.bench;

/**
 * What a benchmark is meant to show.
 *
 * @param ratio what was measured; 0 when a side did not run or got nothing done, which meets no aim
 * @param atLeast true: the ratio must reach the target; false: it must not pass it
 */
record Aim(String aim, double ratio, double target, boolean atLeast) {
  boolean met() {
    return ratio > 0 && (atLeast ? ratio >= target : ratio <= target);
  }
}
