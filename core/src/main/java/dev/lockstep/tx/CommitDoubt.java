package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A connection was lost during COMMIT: find out what happened, never guess.
 *
 * <p>A look at the effect alone could come too early, while the server is still committing, and
 * "not there" would then be wrong. So first wait until the server has finished with the
 * transaction, and look only then.
 */
final class CommitDoubt<T> {
  /** What BEGIN asks the server about the transaction, to recognise it by later. */
  static final String IDENTITY =
      """
      pg_current_xact_id()::text, pg_backend_pid(),
        extract(epoch FROM pg_postmaster_start_time())::text""";

  // A transaction holds the lock on its own id until its changes are visible. The process id keeps
  // it apart from a stranger: a server that crashed gives the ids again that it had not yet made
  // durable. For the same reason the status is asked only of a server that has not been restarted;
  // and even there (a crash of one backend resets the others but not the start time) it only ever
  // makes us more careful: "committed" without an effect is unknown, never success.
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
   * A transaction, as the server knows it.
   *
   * @param xid its 64-bit id
   * @param backendPid the server process that ran it
   * @param serverStartedAt when that server was started
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
   * @param suspect null: it never told its name, and may be run again whether or not it is over
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
   * The effect, or empty when it certainly did not happen; of a transaction without a name, when it
   * has not happened yet. Only a primary is believed.
   *
   * @throws OutcomeUnknown when the database could not be asked in time, or asking failed
   */
  Optional<T> settle(SQLException lost) {
    // The call's own deadline may have caused the doubt; asking gets a deadline of its own.
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
        // Whatever the lookup threw, it did not say that nothing happened.
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
            options.label() + ": the connection was lost during COMMIT, and asking failed", lost);
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
      // Each question must see what was committed before it was asked, whatever the pool's default.
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
            label + ": the transaction committed, but the lookup does not find it", lost);
      }
      return found;
    }
  }
}
