package dev.lockstep.bench;

/**
 * Tells when a load has become as fast as it gets: when none of three stretches in a row beat the
 * best one before them. Not thread-safe.
 */
final class WarmUp {
  /** By so much a stretch has to beat another to count as faster. */
  private static final double FASTER = 1.03;

  private static final int NO_FASTER = 3;

  private double best;
  private int noFaster;

  /**
   * After a stretch.
   *
   * @param speed of the stretch; more is faster
   */
  void passed(double speed) {
    noFaster = speed > best * FASTER ? 0 : noFaster + 1;
    best = Math.max(best, speed);
  }

  boolean isOver() {
    return noFaster >= NO_FASTER;
  }
}
