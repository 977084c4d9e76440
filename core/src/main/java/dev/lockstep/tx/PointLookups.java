package dev.lockstep.tx;

import dev.lockstep.tx.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Planning for look-ups by key, for the rest of a transaction: see {@link
 * TxOptions#pointLookups()}. With scans, hash joins and merge joins priced out, what is left is the
 * nested loop over an index, which is right for a batch of keys at any size of the table; and there
 * is nothing that it pays to compile, or to start other processes for.
 */
public final class PointLookups {
  /** A setting that stands in its way, and what it is set to. */
  record Setting(String name, String value) {}

  static final List<Setting> SETTINGS =
      List.of(
          new Setting("enable_seqscan", "off"),
          new Setting("enable_hashjoin", "off"),
          new Setting("enable_mergejoin", "off"),
          new Setting("enable_nestloop", "on"),
          new Setting("jit", "off"),
          new Setting("max_parallel_workers_per_gather", "0"));

  /** Columns of a SELECT that switch it on. */
  static final String ON = columns(one -> setConfig(one, "'" + one.value() + "'"));

  private static final String CURRENT =
      "SELECT " + columns(one -> "current_setting('%s')".formatted(one.name()));
  private static final String RESTORE = "SELECT " + columns(one -> setConfig(one, "?"));

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

  private static String columns(Function<Setting, String> column) {
    return SETTINGS.stream().map(column).collect(Collectors.joining(", "));
  }

  private static String setConfig(Setting setting, String value) {
    return "set_config('%s', %s, true)".formatted(setting.name(), value);
  }

  /**
   * Runs work so on a connection of the caller's, and leaves the settings as they were. When the
   * work throws they are left to the rollback that must follow.
   */
  public static <T> T during(Connection connection, TxWork<T> work) throws SQLException {
    RoundTrip before = new RoundTrip(connection);
    Rows<Object[]> settings = before.query(CURRENT, PointLookups::texts);
    before.query("SELECT " + ON, row -> true);
    before.send();
    T result = work.run(connection);
    RoundTrip after = new RoundTrip(connection);
    after.query(RESTORE, row -> true, settings.list().get(0));
    after.send();
    return result;
  }

  private static Object[] texts(ResultSet row) throws SQLException {
    Object[] texts = new Object[SETTINGS.size()];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = row.getString(i + 1);
    }
    return texts;
  }
}
