package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * A connection was lost during COMMIT: find out what happened, never guess.
 *
 * <p>A look at the effect alone could come too early, while the server is still committing, and
 * "not there" would then be wrong. So first wait until the server has finished with the
 * transaction, by its id, and look only then.
 */
final class CommitDoubt<T> {
  private static final String STATUS = "SELECT pg_xact_status(?::text::xid8)";
  private static final long FIRST_PAUSE_NANOS = 1_000_000;
  private static final long MAX_PAUSE_NANOS = 250_000_000;

  private final DataSource dataSource;
  private final TxOptions options;
  private final String xid;
  private final EffectLookup<T> lookup;

  CommitDoubt(DataSource dataSource, TxOptions options, String xid, EffectLookup<T> lookup) {
    this.dataSource = dataSource;
    this.options = options;
    this.xid = xid;
    this.lookup = lookup;
  }

  /**
   * The effect, or empty when it certainly did not happen.
   *
   * @throws OutcomeUnknown when the database could not be asked in time
   */
  Optional<T> settle(SQLException lost) {
    // The call's own deadline may have caused the doubt; asking gets a deadline of its own.
    Deadline patience = Deadline.after(options.deadline());
    SQLException last = lost;
    long pauseNanos = FIRST_PAUSE_NANOS;
    while (!patience.passed() && !Thread.currentThread().isInterrupted()) {
      try (Connection connection = dataSource.getConnection()) {
        String status = status(connection);
        if (!"in progress".equals(status)) {
          return look(connection, status, lost);
        }
      } catch (SQLException e) {
        last = e;
        if (SqlFault.of(e) != SqlFault.UNAVAILABLE) {
          break;
        }
      }
      LockSupport.parkNanos(this, pauseNanos);
      pauseNanos = Math.min(MAX_PAUSE_NANOS, pauseNanos * 2);
    }
    OutcomeUnknown unknown =
        new OutcomeUnknown(
            options.label() + ": the connection was lost during COMMIT, and asking failed", lost);
    unknown.addSuppressed(last);
    throw unknown;
  }

  private String status(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(STATUS)) {
      statement.setString(1, xid);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        String status = row.getString(1);
        return status == null ? "forgotten" : status;
      }
    } catch (SQLException e) {
      if (SqlFault.of(e) == SqlFault.OUT_OF_RANGE) {
        // An id from the future: this server (a promoted standby) never saw the transaction.
        return "never seen";
      }
      throw e;
    }
  }

  private Optional<T> look(Connection connection, String status, SQLException lost)
      throws SQLException {
    Optional<T> found = lookup.find(connection);
    if (found.isEmpty() && "committed".equals(status)) {
      throw new OutcomeUnknown(
          options.label() + ": the transaction committed, but the lookup does not find it", lost);
    }
    return found;
  }
}
