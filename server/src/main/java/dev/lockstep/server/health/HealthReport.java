package dev.lockstep.server.health;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One reading.
 *
 * @param sessions of this database, longest transaction first, without the reader's own
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
   * @param state in PostgreSQL's words
   * @param blockedBy the sessions it waits for; empty for none
   * @param transactionSeconds the age of its transaction; empty for none
   * @param stateSeconds the age of its state; for a waiting session, about how long it has waited
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
    /** Dead rows per live row; meaningless for a small table. */
    double deadShare() {
      return live + dead < 10_000 ? 0 : (double) dead / Math.max(1, live);
    }
  }

  /**
   * @param lagSeconds empty if our role may not see it
   * @param lagBytes empty if our role may not see it
   */
  record Replica(String name, String state, Optional<Double> lagSeconds, Optional<Long> lagBytes) {}

  /**
   * @param age of the oldest unfrozen transaction id
   */
  record TransactionIds(long age, long freezeMaxAge) {
    /** PostgreSQL stops earlier, with about three million left. */
    static final long ALL = 1L << 31;

    long left() {
      return Math.max(0, ALL - age);
    }
  }

  /**
   * Since this node started; deadlocks cover the whole database.
   *
   * @param hitShare the share of read blocks found in memory; 1 when few were read
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
    return replicas.stream()
        .flatMap(replica -> replica.lagSeconds().stream())
        .mapToDouble(Double::doubleValue)
        .max()
        .orElse(0);
  }

  double worstDeadShare() {
    return tables.stream().mapToDouble(Table::deadShare).max().orElse(0);
  }
}
