package dev.lockstep.bench;

/** Lets a load become as fast as it gets. */
final class WarmUp {
  /** A stretch counts as faster only if it beats another by this factor. */
  private static final double FASTER = 1.03;

  private static final int NO_FASTER = 3;

  private WarmUp() {}

  /** A while of the load; the more it returns the faster it was. */
  @FunctionalInterface
  interface Stretch<E extends Exception> {
    double pass() throws E;
  }

  /**
   * Stretch after stretch until none of three in a row beat the best one before them.
   *
   * @param most stretches after which it ends all the same
   */
  static <E extends Exception> void run(int most, Stretch<E> stretch) throws E {
    double best = 0;
    int noFaster = 0;
    for (int i = 0; i < most && noFaster < NO_FASTER; i++) {
      double speed = stretch.pass();
      noFaster = speed > best * FASTER ? 0 : noFaster + 1;
      best = Math.max(best, speed);
    }
  }
}
