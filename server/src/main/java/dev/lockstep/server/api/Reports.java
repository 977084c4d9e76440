package dev.lockstep.server.api;

import dev.lockstep.fault.DeadlineExceeded;
import dev.lockstep.fault.LockTimeout;
import dev.lockstep.fault.StatementTimeout;
import dev.lockstep.tx.Isolation;
import dev.lockstep.tx.RetryPolicy;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxListener;
import dev.lockstep.tx.TxOptions;
import java.time.Duration;
import java.util.concurrent.Callable;
import javax.sql.DataSource;

/**
 * Runs operators' reads in a read-only transaction with one snapshot, a short timeout and
 * connections that no sale needs. Calls to the blocks join that transaction. Thread-safe; blocks.
 */
public final class Reports {
  private final Transactor transactor;
  private final Transactor reader;
  private final TxOptions options;

  /**
   * @param transactor the one that the blocks use
   * @param connections reserved for reports
   * @param timeout of one report
   */
  public Reports(
      Transactor transactor, DataSource connections, Duration timeout, TxListener listener) {
    this.transactor = transactor;
    this.options =
        transactor
            .defaults()
            .withLabel("report")
            .asReadOnly()
            .withIsolation(Isolation.REPEATABLE_READ)
            // Stays below both statement timeouts while they are swapped.
            .withLockTimeout(Duration.ofMillis(1))
            .withStatementTimeout(timeout)
            .withLockTimeout(timeout)
            .withDeadline(timeout.multipliedBy(2))
            .withRetry(RetryPolicy.NEVER);
    this.reader = new Transactor(connections, options, listener);
  }

  /**
   * @throws ProblemException when it takes too long
   */
  <T> T read(Callable<T> work) throws Exception {
    try {
      return reader.call(
          options, connection -> transactor.join(connection, joined -> Reports.<T>called(work)));
    } catch (StatementTimeout | LockTimeout | DeadlineExceeded e) {
      throw tooSlow();
    } catch (Checked e) {
      throw e.thrown;
    }
  }

  private ProblemException tooSlow() {
    return Problem.of(
            "report-too-slow",
            503,
            "Report too slow",
            "This took longer than the %d ms that a report may take. Narrow the search or try later."
                .formatted(options.statementTimeout().toMillis()))
        .retryAfter(options.statementTimeout())
        .asException();
  }

  private static <T> T called(Callable<T> work) {
    try {
      return work.call();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new Checked(e);
    }
  }

  /** Carries checked exceptions out of a transaction's work. */
  private static final class Checked extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final Exception thrown;

    Checked(Exception thrown) {
      super(thrown);
      this.thrown = thrown;
    }
  }
}
