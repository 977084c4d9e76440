package dev.lockstep.tx;

import dev.lockstep.tx.TxAttempt.Outcome;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One call of a Transactor: attempts until it commits, fails for good, or runs out of time. */
final class Attempts<T> {
  private static final Logger log = LoggerFactory.getLogger(Attempts.class);

  private final DataSource dataSource;
  private final TxOptions options;
  private final TxListener listener;
  private final TxWork<T> work;
  private final @Nullable EffectLookup<T> lookup;
  private final Deadline deadline;

  Attempts(
      DataSource dataSource,
      TxOptions options,
      TxListener listener,
      TxWork<T> work,
      @Nullable EffectLookup<T> lookup) {
    this.dataSource = dataSource;
    this.options = options;
    this.listener = listener;
    this.work = work;
    this.lookup = lookup;
    this.deadline = Deadline.after(options.deadline());
  }

  T run() {
    for (int number = 1; ; number++) {
      One one = new One(number);
      try {
        T result = one.run();
        one.tell(one.lookedUp ? Outcome.FOUND_COMMITTED : Outcome.COMMITTED, null, Duration.ZERO);
        return result;
      } catch (OutcomeUnknown e) {
        one.tell(Outcome.UNKNOWN, SqlFault.behind(e).orElse(null), Duration.ZERO);
        throw e;
      } catch (SQLException | RuntimeException | Error e) {
        retryOrThrow(one, e);
      }
    }
  }

  /** Returns after the backoff when there is to be another attempt. */
  private void retryOrThrow(One one, Throwable thrown) {
    SqlFault fault = SqlFault.behind(thrown).orElse(null);
    Duration backoff = options.retry().backoffAfter(one.number);
    boolean again =
        fault != null
            && fault.retryable()
            && !one.cutByDeadline()
            && one.number < options.retry().maxAttempts()
            && backoff.compareTo(deadline.remaining()) < 0
            && !Thread.currentThread().isInterrupted();
    if (again) {
      one.tell(Outcome.RETRIED, fault, backoff);
      LockSupport.parkNanos(this, backoff.toNanos());
      return;
    }
    one.tell(Outcome.FAILED, fault, Duration.ZERO);
    if (one.cutByDeadline() || (fault != null && fault.retryable() && deadline.passed())) {
      throw new DeadlineExceeded(
          "%s: not done within %s (attempt %d)"
              .formatted(options.label(), options.deadline(), one.number),
          thrown);
    }
    if (thrown instanceof SQLException e) {
      throw SqlFault.of(e).asException(describe(one), e);
    }
    if (thrown instanceof Error e) {
      throw e;
    }
    throw (RuntimeException) thrown;
  }

  private String describe(One one) {
    return one.number == 1
        ? options.label()
        : "%s (after %d attempts)".formatted(options.label(), one.number);
  }

  /** A single attempt: connection, BEGIN with settings, work, COMMIT. */
  private final class One {
    final int number;
    private final long startedNanos = System.nanoTime();
    private long connectedNanos = startedNanos;
    private @Nullable Watchdog watchdog;
    private boolean lookedUp;

    One(int number) {
      this.number = number;
    }

    boolean cutByDeadline() {
      return watchdog != null && watchdog.hasCut();
    }

    T run() throws SQLException {
      Connection connection = dataSource.getConnection();
      connectedNanos = System.nanoTime();
      try (connection) {
        boolean autoCommit = connection.getAutoCommit();
        Watchdog guard = new Watchdog(connection, deadline);
        watchdog = guard;
        try {
          connection.setAutoCommit(false);
          String xid = begin(connection);
          T result = work.run(connection);
          return commit(connection, guard, xid, result);
        } catch (SQLException | RuntimeException | Error e) {
          rollback(connection, guard, e);
          throw e;
        } finally {
          guard.finish();
          if (!guard.hasCut()) {
            restoreAutoCommit(connection, autoCommit);
          }
        }
      }
    }

    /**
     * All settings travel in one round trip with BEGIN, and end with the transaction. With a lookup
     * the transaction's id is fetched along with them: it is what tells later whether the server
     * has finished with the transaction.
     */
    private String begin(Connection connection) throws SQLException {
      long statementMs = Math.max(1, deadline.orSooner(options.statementTimeout()).toMillis());
      String settings =
          "SET TRANSACTION ISOLATION LEVEL %s %s; SET LOCAL lock_timeout = %d; SET LOCAL statement_timeout = %d"
              .formatted(
                  options.isolation().sql(),
                  options.readOnly() ? "READ ONLY" : "READ WRITE",
                  Math.min(options.lockTimeout().toMillis(), statementMs),
                  statementMs);
      try (Statement statement = connection.createStatement()) {
        if (lookup == null) {
          statement.execute(settings);
          return "";
        }
        statement.execute(settings + "; SELECT pg_current_xact_id()::text");
        while (!statement.getMoreResults()) {
          if (statement.getUpdateCount() == -1) {
            throw new IllegalStateException("The server gave no transaction id");
          }
        }
        try (ResultSet row = statement.getResultSet()) {
          row.next();
          return row.getString(1);
        }
      }
    }

    private T commit(Connection connection, Watchdog guard, String xid, T result)
        throws SQLException {
      if (!guard.startCommit()) {
        throw new DeadlineExceeded("The deadline passed before COMMIT", null);
      }
      try {
        connection.commit();
        return result;
      } catch (SQLException e) {
        // An error the server reported means it rolled back. Only silence leaves doubt.
        if (SqlFault.of(e) != SqlFault.UNAVAILABLE) {
          throw e;
        }
        return resolve(xid, e);
      }
    }

    private T resolve(String xid, SQLException lost) throws SQLException {
      if (lookup == null) {
        throw new OutcomeUnknown(
            options.label() + ": the connection was lost during COMMIT; look the effect up", lost);
      }
      Optional<T> found = new CommitDoubt<>(dataSource, options, xid, lookup).settle(lost);
      if (found.isPresent()) {
        lookedUp = true;
        return found.get();
      }
      throw lost;
    }

    private void rollback(Connection connection, Watchdog guard, Throwable because) {
      if (guard.hasCut()) {
        return;
      }
      try {
        connection.rollback();
      } catch (SQLException e) {
        because.addSuppressed(e);
      }
    }

    private void restoreAutoCommit(Connection connection, boolean autoCommit) {
      try {
        connection.setAutoCommit(autoCommit);
      } catch (SQLException e) {
        // The pool tests what it gets back and drops a broken connection.
        log.debug("Could not restore auto-commit", e);
      }
    }

    void tell(Outcome outcome, @Nullable SqlFault fault, Duration backoff) {
      try {
        listener.onAttempt(
            new TxAttempt(
                options.label(),
                number,
                Duration.ofNanos(connectedNanos - startedNanos),
                Duration.ofNanos(System.nanoTime() - startedNanos),
                outcome,
                Optional.ofNullable(fault),
                backoff));
      } catch (RuntimeException e) {
        log.warn("A transaction listener failed", e);
      }
    }
  }
}
