package dev.lockstep.tx;

import java.time.Duration;

/**
 * How a transaction runs. Immutable; start from {@link #DEFAULT} and change what differs.
 *
 * @param label names the transaction in listeners and error messages
 * @param isolation READ COMMITTED unless asked for more
 * @param readOnly refuses writes in the database
 * @param lockTimeout longest wait for one lock (3 s)
 * @param statementTimeout longest run of one statement (10 s)
 * @param idleTimeout longest time the server waits for the next statement (5 s), or for its answer
 *     to be taken; then it rolls back and ends the session. So a process that stops in the middle
 *     of a transaction, or a network that swallows packets, holds up others no longer than this.
 *     Work that computes for longer between two statements needs more. With less than the
 *     lockTimeout of the others these only wait.
 * @param transactionTimeout longest time of one attempt on the server (15 s), or statementTimeout
 *     where that is longer; then the server rolls back and ends the session. It is the only bound
 *     that works while the server waits for the rest of a message that arrived in part: the session
 *     counts as active then, but runs no statement. The default is one full lockTimeout, one full
 *     statementTimeout and some slack; work of many slow statements needs more. The time ends when
 *     COMMIT begins to write: deferred constraints and triggers count, the flush to disk and the
 *     wait for a replica do not. Needs PostgreSQL 17; on 14 to 16 TCP keep-alives take its place,
 *     which notice a dead network within idleTimeout and two seconds, but not a stopped process
 * @param deadline longest time for everything: waiting for a connection, all attempts, all waits
 *     (30 s). A transaction still running then is cut off and rolled back.
 * @param retry what happens after a conflict or a lost connection
 * @param pointLookups plan statements as index look-ups whatever the statistics say. Drivers keep
 *     plans; one that was made while a table was small, and so scans it, would ruin the first
 *     minute of a sale in which that table grows a thousandfold.
 */
public record TxOptions(
    String label,
    Isolation isolation,
    boolean readOnly,
    Duration lockTimeout,
    Duration statementTimeout,
    Duration idleTimeout,
    Duration transactionTimeout,
    Duration deadline,
    Retry retry,
    boolean pointLookups) {

  public static final TxOptions DEFAULT =
      new TxOptions(
          "transaction",
          Isolation.READ_COMMITTED,
          false,
          Duration.ofSeconds(3),
          Duration.ofSeconds(10),
          Duration.ofSeconds(5),
          Duration.ofSeconds(15),
          Duration.ofSeconds(30),
          Retry.DEFAULT,
          false);

  public TxOptions {
    requireWholeMillis("lockTimeout", lockTimeout);
    requireWholeMillis("statementTimeout", statementTimeout);
    requireWholeMillis("idleTimeout", idleTimeout);
    requireWholeMillis("transactionTimeout", transactionTimeout);
    requireWholeMillis("deadline", deadline);
    if (lockTimeout.compareTo(statementTimeout) > 0) {
      throw new IllegalArgumentException(
          "lockTimeout must not exceed statementTimeout, which would end the wait first");
    }
  }

  public TxOptions withLabel(String label) {
    return new TxOptions(
        label,
        isolation,
        readOnly,
        lockTimeout,
        statementTimeout,
        idleTimeout,
        transactionTimeout,
        deadline,
        retry,
        pointLookups);
  }

  public TxOptions withIsolation(Isolation isolation) {
    return new TxOptions(
        label,
        isolation,
        readOnly,
        lockTimeout,
        statementTimeout,
        idleTimeout,
        transactionTimeout,
        deadline,
        retry,
        pointLookups);
  }

  public TxOptions asReadOnly() {
    return new TxOptions(
        label,
        isolation,
        true,
        lockTimeout,
        statementTimeout,
        idleTimeout,
        transactionTimeout,
        deadline,
        retry,
        pointLookups);
  }

  public TxOptions withLockTimeout(Duration lockTimeout) {
    return new TxOptions(
        label,
        isolation,
        readOnly,
        lockTimeout,
        statementTimeout,
        idleTimeout,
        transactionTimeout,
        deadline,
        retry,
        pointLookups);
  }

  public TxOptions withStatementTimeout(Duration statementTimeout) {
    return new TxOptions(
        label,
        isolation,
        readOnly,
        lockTimeout,
        statementTimeout,
        idleTimeout,
        transactionTimeout,
        deadline,
        retry,
        pointLookups);
  }

  public TxOptions withIdleTimeout(Duration idleTimeout) {
    return new TxOptions(
        label,
        isolation,
        readOnly,
        lockTimeout,
        statementTimeout,
        idleTimeout,
        transactionTimeout,
        deadline,
        retry,
        pointLookups);
  }

  public TxOptions withTransactionTimeout(Duration transactionTimeout) {
    return new TxOptions(
        label,
        isolation,
        readOnly,
        lockTimeout,
        statementTimeout,
        idleTimeout,
        transactionTimeout,
        deadline,
        retry,
        pointLookups);
  }

  /** What applies: transactionTimeout, or statementTimeout where that is longer. */
  public Duration effectiveTransactionTimeout() {
    return transactionTimeout.compareTo(statementTimeout) < 0
        ? statementTimeout
        : transactionTimeout;
  }

  public TxOptions withDeadline(Duration deadline) {
    return new TxOptions(
        label,
        isolation,
        readOnly,
        lockTimeout,
        statementTimeout,
        idleTimeout,
        transactionTimeout,
        deadline,
        retry,
        pointLookups);
  }

  public TxOptions withRetry(Retry retry) {
    return new TxOptions(
        label,
        isolation,
        readOnly,
        lockTimeout,
        statementTimeout,
        idleTimeout,
        transactionTimeout,
        deadline,
        retry,
        pointLookups);
  }

  public TxOptions withPointLookups() {
    return new TxOptions(
        label,
        isolation,
        readOnly,
        lockTimeout,
        statementTimeout,
        idleTimeout,
        transactionTimeout,
        deadline,
        retry,
        true);
  }

  private static void requireWholeMillis(String name, Duration duration) {
    // Zero would switch the timeout off in PostgreSQL, the opposite of what it says.
    if (duration.toMillis() < 1 || duration.toMillis() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          name + " must be between 1 ms and " + Integer.MAX_VALUE + " ms, is " + duration);
    }
  }
}
