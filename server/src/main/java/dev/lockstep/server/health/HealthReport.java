package dev.lockstep.server.health;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What was found in one look.
 *
 * @param sessions of this database, longest transaction first, without the one that looked
 */
record HealthReport(
    Instant at,
    List<Session> sessions,
    List<Table> tables,
    List<Replica> replicas,
    TransactionIds ids,
    Counts counts,
    PoolUse pool) {

  /**
   * A connection to the database.
   *
   * @param state as PostgreSQL names it
   * @param blockedBy whom it waits for; empty: for nobody
   * @param transactionSeconds since its transaction began; empty: it has none
   * @param stateSeconds since its state changed, which of one that waits is about how long
   */
  record Session(
      int pid,
      String application,
      String state,
      Optional<Double> transactionSeconds,
      double stateSeconds,
      List<Integer> blockedBy,
      String query) {
    boolean idleInTransaction() {
      return state.startsWith("idle in transaction");
    }
  }

  record Table(String name, long live, long dead, Optional<Instant> vacuumedAt, long frozenAge) {
    /** Dead rows for each live one; of a small table it says nothing. */
    double deadShare() {
      return live + dead < 10_000 ? 0 : (double) dead / Math.max(1, live);
    }
  }

  record Replica(String name, String state, double lagSeconds, long lagBytes) {}

  /**
   * @param age of the oldest transaction id that is not frozen
   */
  record TransactionIds(long age, long freezeMaxAge) {
    /** PostgreSQL stops before, at about three million. */
    static final long ALL = 1L << 31;

    long left() {
      return Math.max(0, ALL - age);
    }
  }

  /**
   * Since this node started; deadlocks of the whole database.
   *
   * @param hitShare of the blocks that were read, how many were in memory; 1 when few were read
   */
  record Counts(long deadlocks, long conflicts, long lockTimeouts, long attempts, double hitShare) {
    double conflictShare() {
      return attempts < 100 ? 0 : (double) conflicts / attempts;
    }

    double lockTimeoutShare() {
      return attempts < 100 ? 0 : (double) lockTimeouts / attempts;
    }
  }

  double longestWaitSeconds() {
    return sessions.stream()
        .filter(session -> !session.blockedBy().isEmpty())
        .mapToDouble(Session::stateSeconds)
        .max()
        .orElse(0);
  }

  double longestTransactionSeconds() {
    return sessions.stream()
        .mapToDouble(session -> session.transactionSeconds().orElse(0.0))
        .max()
        .orElse(0);
  }

  double longestIdleInTransactionSeconds() {
    return sessions.stream()
        .filter(Session::idleInTransaction)
        .mapToDouble(Session::stateSeconds)
        .max()
        .orElse(0);
  }

  double replicationLagSeconds() {
    return replicas.stream().mapToDouble(Replica::lagSeconds).max().orElse(0);
  }

  double worstDeadShare() {
    return tables.stream().mapToDouble(Table::deadShare).max().orElse(0);
  }
}
