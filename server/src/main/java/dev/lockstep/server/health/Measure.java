package dev.lockstep.server.health;

import java.util.Locale;

/**
 * What is measured, its warning and critical bounds, and what to do then. The bounds of lock waits,
 * lock timeouts, conflicts, old transactions and transaction ids come from the source documents;
 * the others are our own.
 */
enum Measure {
  LOCK_WAIT(
      "lockWaitSeconds",
      0.1,
      0.5,
      "Somebody waits for a lock. The graph shows who has it: end that session's transaction, or"
          + " find out what it waits for outside the database."),
  LOCK_TIMEOUTS(
      "lockTimeoutShare",
      0.000_001,
      0.01,
      "Transactions time out waiting for locks. Look for long transactions and for code that calls"
          + " another system while it holds one."),
  CONFLICTS(
      "conflictShare",
      0.01,
      0.05,
      "Transactions conflict and are retried. Send contended writes through a combiner, or lock"
          + " the shared rows first."),
  DEADLOCKS(
      "deadlocks",
      1,
      100,
      "Sessions locked the same rows in opposite orders. The server's log names both statements:"
          + " make them lock in one order."),
  OLD_TRANSACTION(
      "transactionSeconds",
      60,
      3_600,
      "An old transaction prevents the cleanup of dead rows and old transaction ids. End it;"
          + " after an hour, terminate its session."),
  IDLE_IN_TRANSACTION(
      "idleInTransactionSeconds",
      10,
      60,
      "A session holds an open transaction, and its locks, and does nothing. Find its application"
          + " and set idle_in_transaction_session_timeout."),
  POOL(
      "poolShare",
      0.8,
      1,
      "Nearly all pooled connections are in use. Look for slow statements and lock waits before you"
          + " make the pool larger."),
  DEAD_ROWS(
      "deadRowShare",
      0.2,
      1,
      "A table has many dead rows. Look for old transactions and idle replicas' feedback, then let"
          + " autovacuum run more often, or VACUUM it."),
  TRANSACTION_IDS(
      "transactionIdAge",
      500_000_000,
      1_500_000_000,
      "Transaction ids are not frozen in time; at two billion PostgreSQL stops. End old"
          + " transactions, drop unused replication slots, then VACUUM FREEZE."),
  REPLICATION(
      "replicationLagSeconds",
      10,
      60,
      "A replica is behind. Look at its disk, its network and its long queries."),
  CACHE(
      "cacheMissShare",
      0.01,
      0.1,
      "Many blocks are read from outside the database's memory. Give it more shared_buffers, or find"
          + " the statement that scans a table.");

  /** How bad it is. */
  enum Level {
    OK(0),
    WARNING(1),
    CRITICAL(2);

    private final int code;

    Level(int code) {
      this.code = code;
    }

    /** The metric's value. */
    int code() {
      return code;
    }

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final String label;
  private final double warningAt;
  private final double criticalAt;
  private final String advice;

  Measure(String label, double warningAt, double criticalAt, String advice) {
    this.label = label;
    this.warningAt = warningAt;
    this.criticalAt = criticalAt;
    this.advice = advice;
  }

  String label() {
    return label;
  }

  double of(HealthReport report) {
    return switch (this) {
      case LOCK_WAIT -> report.longestWaitSeconds();
      case LOCK_TIMEOUTS -> report.counts().lockTimeoutShare();
      case CONFLICTS -> report.counts().conflictShare();
      case DEADLOCKS -> report.counts().deadlocks();
      case OLD_TRANSACTION -> report.longestTransactionSeconds();
      case IDLE_IN_TRANSACTION -> report.longestIdleInTransactionSeconds();
      case POOL -> report.pool().share();
      case DEAD_ROWS -> report.worstDeadShare();
      case TRANSACTION_IDS -> report.ids().age();
      case REPLICATION -> report.replicationLagSeconds();
      case CACHE -> 1 - report.counts().hitShare();
    };
  }

  double warningAt() {
    return warningAt;
  }

  double criticalAt() {
    return criticalAt;
  }

  String advice() {
    return advice;
  }

  Level level(HealthReport report) {
    double now = of(report);
    if (now >= criticalAt) {
      return Level.CRITICAL;
    }
    return now >= warningAt ? Level.WARNING : Level.OK;
  }
}
