package dev.lockstep.bench;

/** Runs a load until it gets no faster. */
final class WarmUp {
  /** A stretch counts as faster only if it beats another by this factor. */
  private static final double FASTER = 1.03;

  private static final int NO_FASTER = 3;

  private WarmUp() {}

  /** Runs the load for a while; returns its speed. */
  @FunctionalInterface
  interface Stretch<E extends Exception> {
    double pass() throws E;
  }

  /**
   * Runs stretches until three in a row were no faster than the best before them.
   *
   * @param most the most stretches
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
