package dev.lockstep.bench;

import java.sql.SQLException;
import java.util.List;

/**
 * What is measured, and what its database shows afterwards.
 *
 * @param pooled each call has a connection of its own, for which it waits
 * @param atOnce what a call takes; who takes many does so alone
 */
record Contender(String name, boolean pooled, int atOnce, Load.Call call, Stored stored) {

  /** What is stored, as often as it was acknowledged. */
  @FunctionalInterface
  interface Stored {
    long count() throws SQLException;
  }

  Load load(int callers) {
    return pooled
        ? Load.ofPooled(name, callers, call)
        : Load.of(name, atOnce > 1 ? 1 : callers, call);
  }

  /** Reports the calls, if all that they were told is stored. */
  void book(Measured calls, Report report) throws SQLException {
    Measured measured = calls.times(atOnce);
    Report.requireBalance(name, measured.acknowledged(), stored.count());
    report.add(measured);
  }

  /** One caller, in turns: a millisecond is easily disturbed. */
  static void alone(List<Contender> contenders, int seconds, Report report) throws Exception {
    InTurns[] turns =
        contenders.stream().map(c -> new InTurns(c.name, c.call)).toArray(InTurns[]::new);
    List<Measured> results = InTurns.run(seconds, turns);
    for (int i = 0; i < results.size(); i++) {
      contenders.get(i).book(results.get(i), report);
    }
  }
}
