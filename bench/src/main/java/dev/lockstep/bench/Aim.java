package dev.lockstep.bench;

/**
 * What a benchmark should show.
 *
 * @param ratio the measured ratio; 0 if a side did not run or got nothing done, which meets no aim
 * @param atLeast whether the ratio must reach the target, or must not exceed it
 */
record Aim(String aim, double ratio, double target, boolean atLeast) {
  boolean met() {
    return ratio > 0 && (atLeast ? ratio >= target : ratio <= target);
  }
}
