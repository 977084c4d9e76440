package dev.lockstep.server.api;

import dev.lockstep.fault.DeadlineExceeded;
import dev.lockstep.fault.LockTimeout;
import dev.lockstep.fault.StatementTimeout;
import dev.lockstep.tx.Isolation;
import dev.lockstep.tx.Retry;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxListener;
import dev.lockstep.tx.TxOptions;
import java.time.Duration;
import java.util.concurrent.Callable;
import javax.sql.DataSource;

/**
 * Where operators' reads run: in a transaction that only reads, sees one moment, is cut off soon,
 * and has a connection that no sale needs. Whatever the work asks of the blocks joins it.
 * Thread-safe; blocks.
 */
public final class Reports {
  private final Transactor transactor;
  private final Transactor reader;
  private final TxOptions options;

  /**
   * @param transactor the one that the blocks have
   * @param connections nobody else's
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
            // Below either statement timeout while one is exchanged for the other.
            .withLockTimeout(Duration.ofMillis(1))
            .withStatementTimeout(timeout)
            .withLockTimeout(timeout)
            .withDeadline(timeout.multipliedBy(2))
            .withRetry(Retry.NEVER);
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
            "This took longer than the %d ms that a report has. Narrow the search, or try later."
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

  /** Carries what a transaction's work can not throw. */
  private static final class Checked extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final Exception thrown;

    Checked(Exception thrown) {
      super(thrown);
      this.thrown = thrown;
    }
  }
}
