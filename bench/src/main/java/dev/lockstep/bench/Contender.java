package dev.lockstep.bench;

import java.sql.SQLException;

/**
 * What is measured, and what its database shows afterwards.
 *
 * @param pooled whether each call waits for a connection of its own
 * @param atOnce how many things one call does; with more than one, there is one caller
 * @param stored counts what the database shows; must equal what was acknowledged
 */
record Contender(String name, boolean pooled, int atOnce, Load.Call call, Stored stored) {

  /** Counts what is stored. */
  @FunctionalInterface
  interface Stored {
    long count() throws SQLException;
  }

  /** One thing per call. */
  static Contender of(String name, Load.Call call, Stored stored) {
    return new Contender(name, false, 1, call, stored);
  }

  /** One thing per call, which does nothing before it has a connection of the pool. */
  static Contender pooled(String name, Load.Call call, Stored stored) {
    return new Contender(name, true, 1, call, stored);
  }

  /** One caller, whose calls each do a batch of things. */
  static Contender inBatches(String name, int batch, Load.Call call, Stored stored) {
    return new Contender(name, false, batch, call, stored);
  }

  Load load(int callers) {
    return pooled
        ? Load.ofPooled(name, callers, call)
        : Load.of(name, atOnce > 1 ? 1 : callers, call);
  }

  InTurns turns() {
    return new InTurns(name, call);
  }

  /** Reports the calls, after checking that everything acknowledged is stored. */
  void book(Measured calls, Report report) throws SQLException {
    Measured measured = calls.times(atOnce);
    Report.requireBalance(name, measured.acknowledged(), stored.count());
    report.add(measured);
  }
}
