package dev.lockstep.tx;

import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.sql.HandedOut;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what happened to a transaction whose connection was lost during COMMIT; never guesses.
 *
 * <p>A lookup alone could come too early: while the server is still committing, "not there" would
 * be wrong. So this class first waits until the server has finished the transaction, then looks.
 */
final class CommitDoubt<T> {
  /** Columns read with BEGIN that identify the transaction later. */
  static final String IDENTITY =
      """
      pg_current_xact_id()::text, pg_backend_pid(),
        extract(epoch FROM pg_postmaster_start_time())::text""";

  // A transaction holds the lock on its own id until its changes are visible. The process id tells
  // it from an unrelated transaction: after a crash the server reuses ids that were not yet
  // durable. For the same reason we ask for the status only if the server has not restarted since.
  // Even then (a crash of one backend resets the others but not the start time) the status only
  // makes us more careful: "committed" without an effect means unknown, never success.
  private static final String STATUS =
      """
      SELECT EXISTS (
               SELECT 1 FROM pg_locks
                WHERE locktype = 'transactionid' AND granted
                  AND transactionid = ?::text::xid8::xid AND pid = ?),
             CASE WHEN extract(epoch FROM pg_postmaster_start_time())::text = ?
                   AND ?::text::xid8 < pg_snapshot_xmax(pg_current_snapshot())
                  THEN pg_xact_status(?::text::xid8) = 'committed'
                  ELSE false END
      """;
  private static final long FIRST_PAUSE_NANOS = 1_000_000;
  private static final long MAX_PAUSE_NANOS = 250_000_000;

  /**
   * A transaction as the server knows it.
   *
   * @param xid its 64-bit id
   * @param backendPid the server process that ran it
   * @param serverStartedAt when that server started
   */
  record Suspect(String xid, int backendPid, String serverStartedAt) {
    static Suspect from(ResultSet row) throws SQLException {
      return new Suspect(row.getString(1), row.getInt(2), row.getString(3));
    }
  }

  private enum Status {
    RUNNING,
    COMMITTED,
    /** Rolled back, or from before a restart: only the lookup can tell. */
    ENDED
  }

  private final Source connections;
  private final TxOptions options;
  private final Watch watch;
  private final @Nullable Suspect suspect;
  private final EffectLookup<T> lookup;

  /**
   * @param suspect null if the transaction's id never reached us; the work may then run again
   *     whether or not that transaction is over
   */
  CommitDoubt(
      Source connections,
      TxOptions options,
      Watch watch,
      @Nullable Suspect suspect,
      EffectLookup<T> lookup) {
    this.connections = connections;
    this.options = options;
    this.watch = watch;
    this.suspect = suspect;
    this.lookup = lookup;
  }

  /**
   * Returns the effect, or empty if it certainly did not happen. Without a suspect, empty only
   * means that it has not happened yet. Only a primary is believed.
   *
   * @throws OutcomeUnknown if the database could not be asked in time, or the lookup failed
   */
  Optional<T> settle(SQLException lost) {
    // The call's own deadline may have caused the doubt, so the inquiry gets a fresh one.
    Deadline patience = Deadline.after(options.deadline());
    Throwable last = lost;
    long pauseNanos = FIRST_PAUSE_NANOS;
    while (!patience.passed() && !Thread.currentThread().isInterrupted()) {
      try {
        Inquiry<T> inquiry = inquire(patience);
        if (inquiry.status() != Status.RUNNING) {
          return inquiry.orUnknown(options.label(), lost);
        }
      } catch (Throwable e) {
        if (e instanceof OutcomeUnknown unknown) {
          throw unknown;
        }
        // A failed lookup does not prove that nothing happened.
        last = e;
        if (SqlFault.behind(e).filter(SqlFault::isAway).isEmpty()) {
          break;
        }
      }
      LockSupport.parkNanos(this, pauseNanos);
      pauseNanos = Math.min(MAX_PAUSE_NANOS, pauseNanos * 2);
    }
    OutcomeUnknown unknown =
        new OutcomeUnknown(
            options.label()
                + ": the connection was lost during COMMIT, and asking the database failed;"
                + " look the effect up later",
            lost);
    if (last != lost) {
      unknown.addSuppressed(last);
    }
    throw unknown;
  }

  private Inquiry<T> inquire(Deadline patience) throws SQLException {
    Connection connection = connections.dataSource().getConnection();
    boolean autoCommit = true;
    boolean ours = false;
    Watchdog guard = watch.over(connection, patience);
    try {
      HandedOut.requireOurs(connection, connections.manualCommit());
      autoCommit = connection.getAutoCommit();
      ours = true;
      // Each query must see everything committed before it, whatever the pool's default isolation.
      connection.setAutoCommit(true);
      HandedOut.requirePrimary(connection);
      Status status = suspect == null ? Status.ENDED : status(connection, suspect);
      return new Inquiry<>(
          status, status == Status.RUNNING ? Optional.empty() : lookup.find(connection));
    } finally {
      guard.finish();
      if (ours) {
        HandedOut.restoreAutoCommit(connection, autoCommit);
      }
      HandedOut.close(connection);
    }
  }

  private static Status status(Connection connection, Suspect suspect) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(STATUS)) {
      statement.setString(1, suspect.xid());
      statement.setInt(2, suspect.backendPid());
      statement.setString(3, suspect.serverStartedAt());
      statement.setString(4, suspect.xid());
      statement.setString(5, suspect.xid());
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        if (row.getBoolean(1)) {
          return Status.RUNNING;
        }
        return row.getBoolean(2) ? Status.COMMITTED : Status.ENDED;
      }
    }
  }

  private record Inquiry<T>(Status status, Optional<T> found) {
    Optional<T> orUnknown(String label, SQLException lost) {
      if (found.isEmpty() && status == Status.COMMITTED) {
        throw new OutcomeUnknown(
            label + ": committed, but the lookup does not find the effect; check the lookup", lost);
      }
      return found;
    }
  }
}
