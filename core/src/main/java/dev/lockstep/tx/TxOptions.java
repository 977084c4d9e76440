package dev.lockstep.tx;

import java.time.Duration;

/**
 * How a transaction runs. Immutable; start from {@link #DEFAULT} and change what differs.
 *
 * @param label names the transaction in listeners and error messages
 * @param isolation READ COMMITTED by default
 * @param readOnly makes the database refuse writes
 * @param lockTimeout longest wait for one lock (3 s)
 * @param statementTimeout longest run of one statement (10 s)
 * @param idleTimeout longest time the server waits for the next statement, or for the client to
 *     read an answer (5 s). Then it rolls back and ends the session. A process that stops in
 *     mid-transaction, or a network that drops packets, therefore blocks others no longer than
 *     this. If it is shorter than the others' lockTimeout, they wait and go on; if it is longer,
 *     they may time out first. Raise it for work that computes longer between two statements.
 * @param transactionTimeout longest time of one attempt on the server (15 s, or statementTimeout if
 *     that is longer). Then the server rolls back and ends the session. No other bound works while
 *     the server waits for the rest of a partly received message: that session counts as active but
 *     runs no statement. The default covers one full lockTimeout, one full statementTimeout and
 *     some slack; work with many slow statements needs more. The clock stops when COMMIT begins to
 *     write: deferred constraints and triggers count, the flush to disk and the wait for a replica
 *     do not. Needs PostgreSQL 17. On 14 to 16 TCP keep-alives replace it: they detect a dead
 *     network within idleTimeout plus two seconds, but not a stopped process
 * @param deadline longest time for the whole call: waiting for a connection, all attempts, all
 *     backoffs (30 s). A transaction still running then is cut off and rolled back.
 * @param retry how often and how soon to run again after a conflict or a lost connection
 * @param indexLookups plans statements as index lookups, whatever the statistics say. Drivers cache
 *     plans; a plan made while a table was small scans it, and would ruin the first minute of a
 *     sale in which the table grows a thousandfold.
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
    RetryPolicy retry,
    boolean indexLookups) {

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
          RetryPolicy.DEFAULT,
          false);

  public TxOptions {
    requireWholeMillis("lockTimeout", lockTimeout);
    requireWholeMillis("statementTimeout", statementTimeout);
    requireWholeMillis("idleTimeout", idleTimeout);
    requireWholeMillis("transactionTimeout", transactionTimeout);
    requireWholeMillis("deadline", deadline);
    if (lockTimeout.compareTo(statementTimeout) > 0) {
      throw new IllegalArgumentException(
          "lockTimeout must not exceed statementTimeout, or the statement ends first");
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
        indexLookups);
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
        indexLookups);
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
        indexLookups);
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
        indexLookups);
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
        indexLookups);
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
        indexLookups);
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
        indexLookups);
  }

  /** The timeout in force: transactionTimeout, or statementTimeout if that is longer. */
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
        indexLookups);
  }

  public TxOptions withRetry(RetryPolicy retry) {
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
        indexLookups);
  }

  public TxOptions withIndexLookups() {
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
    // PostgreSQL reads zero as "no timeout", the opposite of what the caller wrote.
    if (duration.toMillis() < 1 || duration.toMillis() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          name + " must be between 1 ms and " + Integer.MAX_VALUE + " ms, is " + duration);
    }
  }
}
