package dev.lockstep.sql;

import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Makes the planner use index lookups for the rest of a transaction: see {@code
 * TxOptions.indexLookups}. With scans, hash joins and merge joins priced out, only the nested loop
 * over an index remains, which suits a batch of keys at any table size. JIT and parallel workers
 * never pay off for such plans.
 */
public final class IndexLookups {
  /** A planner setting and the value that favours lookups. */
  public record Setting(String name, String value) {}

  public static final List<Setting> SETTINGS =
      List.of(
          new Setting("enable_seqscan", "off"),
          new Setting("enable_hashjoin", "off"),
          new Setting("enable_mergejoin", "off"),
          new Setting("enable_nestloop", "on"),
          // Off only while joining by hash.
          new Setting("enable_bitmapscan", "on"),
          new Setting("jit", "off"),
          new Setting("max_parallel_workers_per_gather", "0"));

  /** SELECT columns that apply the settings. */
  public static final String ON = columns(one -> setConfig(one, "'" + one.value() + "'"));

  private static final String CURRENT =
      "SELECT " + columns(one -> "current_setting('%s')".formatted(one.name()));
  private static final String RESTORE = "SELECT " + columns(one -> setConfig(one, "?"));

  private IndexLookups() {}

  /** Statements on a connection. */
  @FunctionalInterface
  public interface Work<T> {
    T run(Connection connection) throws SQLException;
  }

  /**
   * Switches from nested loops to hash joins, or back, for a statement that joins many rows named
   * by {@code = ANY} with their new values. A nested loop would compare every row with every value.
   * The rows come in the order of their keys, which a bitmap would not keep: such a statement may
   * be the first to lock them.
   *
   * @param on true before the statement, false after it
   */
  public static void joinByHash(RoundTrip trip, boolean on) {
    trip.update("SET LOCAL enable_hashjoin = " + (on ? "on" : "off"));
    trip.update("SET LOCAL enable_nestloop = " + (on ? "off" : "on"));
    trip.update("SET LOCAL enable_bitmapscan = " + (on ? "off" : "on"));
  }

  private static String columns(Function<Setting, String> column) {
    return SETTINGS.stream().map(column).collect(Collectors.joining(", "));
  }

  private static String setConfig(Setting setting, String value) {
    return "set_config('%s', %s, true)".formatted(setting.name(), value);
  }

  /**
   * Runs work with index lookups on the caller's connection, then restores the settings. If the
   * work throws, the rollback that must follow restores them.
   */
  public static <T> T during(Connection connection, Work<T> work) throws SQLException {
    RoundTrip before = new RoundTrip(connection);
    Rows<Object[]> settings = before.query(CURRENT, IndexLookups::texts);
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
