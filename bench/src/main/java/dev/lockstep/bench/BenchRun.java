package dev.lockstep.bench;

import java.util.List;

/**
 * One run of a benchmark, with several ways to measure a contender. Each checks the contender's
 * books before it reports.
 *
 * @param seconds how long each contender is measured, after its warm-up
 */
record BenchRun(BenchDatabase database, int seconds, Report report) {
  private static final int TURNS = 5;
  private static final double BETWEEN_TURNS_SECONDS = 0.5;

  /**
   * How long a load of this run warms up.
   *
   * @param cold whether it is the first one of its kind in this run
   */
  double warmUpSeconds(boolean cold) {
    return Load.warmUp(cold, seconds);
  }

  /** The longest that a contender runs, warm-ups included; its stock must last for that. */
  double longestSeconds() {
    return warmUpSeconds(true) + seconds + TURNS * BETWEEN_TURNS_SECONDS;
  }

  /** Measures one contender alone. */
  void measure(Contender contender, int callers, double warmUpSeconds) throws Exception {
    contender.book(contender.load(callers).run(warmUpSeconds, seconds), report);
  }

  /** One caller runs all contenders in short turns, since single latencies are easily disturbed. */
  void alone(List<Contender> contenders) throws Exception {
    InTurns[] turns = contenders.stream().map(Contender::turns).toArray(InTurns[]::new);
    List<Measured> results = InTurns.run(seconds, turns);
    for (int i = 0; i < results.size(); i++) {
      contenders.get(i).book(results.get(i), report);
    }
  }

  /**
   * Many callers run all contenders in turns. A machine's speed varies by the minute, and that
   * should affect all alike.
   */
  void inTurns(List<Contender> contenders, int callers) throws Exception {
    List<Load> loads = contenders.stream().map(contender -> contender.load(callers)).toList();
    for (int turn = 0; turn < TURNS; turn++) {
      double warmUp = turn == 0 ? warmUpSeconds(true) : BETWEEN_TURNS_SECONDS;
      for (Load load : loads) {
        load.turn(warmUp, (double) seconds / TURNS);
      }
    }
    for (int i = 0; i < loads.size(); i++) {
      contenders.get(i).book(loads.get(i).measured(), report);
    }
  }
}
