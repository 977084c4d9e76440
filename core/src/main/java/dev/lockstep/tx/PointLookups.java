package dev.lockstep.tx;

import dev.lockstep.tx.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Planning for look-ups by key, for the rest of a transaction: see {@link
 * TxOptions#pointLookups()}. With scans, hash joins and merge joins priced out, what is left is the
 * nested loop over an index, which is right for a batch of keys at any size of the table.
 */
public final class PointLookups {
  /** The settings that stand in its way. */
  static final List<String> SWITCHED_OFF =
      List.of("enable_seqscan", "enable_hashjoin", "enable_mergejoin");

  /** Columns of a SELECT that switch it on. */
  static final String ON =
      SWITCHED_OFF.stream()
          .map("set_config('%s', 'off', true)"::formatted)
          .collect(Collectors.joining(", "));

  private static final String CURRENT =
      "SELECT current_setting('enable_seqscan'), current_setting('enable_hashjoin'),"
          + " current_setting('enable_mergejoin')";
  private static final String RESTORE =
      "SELECT set_config('enable_seqscan', ?, true), set_config('enable_hashjoin', ?, true),"
          + " set_config('enable_mergejoin', ?, true)";

  private PointLookups() {}

  /**
   * Within look-ups by key, for a statement that pairs many rows, named by {@code = ANY}, with
   * their new values: by hash. A nested loop would look each of them up once for each of them.
   *
   * @param on begins it; else ends it
   */
  public static void pairByHash(RoundTrip trip, boolean on) {
    trip.update("SET LOCAL enable_hashjoin = " + (on ? "on" : "off"));
    trip.update("SET LOCAL enable_nestloop = " + (on ? "off" : "on"));
  }

  private record Settings(String seqscan, String hashjoin, String mergejoin) {}

  /**
   * Runs work so on a connection of the caller's, and leaves the settings as they were. When the
   * work throws they are left to the rollback that must follow.
   */
  public static <T> T during(Connection connection, TxWork<T> work) throws SQLException {
    RoundTrip before = new RoundTrip(connection);
    Rows<Settings> settings =
        before.query(
            CURRENT, row -> new Settings(row.getString(1), row.getString(2), row.getString(3)));
    before.query("SELECT " + ON, row -> true);
    before.send();
    T result = work.run(connection);
    Settings found = settings.list().get(0);
    RoundTrip after = new RoundTrip(connection);
    after.query(RESTORE, row -> true, found.seqscan(), found.hashjoin(), found.mergejoin());
    after.send();
    return result;
  }
}
