package dev.lockstep.postgres;

import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;

/** Renders the settings file that {@code postgresql.conf} includes, written at each start. */
final class Settings {

  private static final long MIB = 1024 * 1024;
  private static final long SHARED_BUFFERS_MIN_MIB = 128;
  private static final long SHARED_BUFFERS_MAX_MIB = 1024;

  private Settings() {}

  /** The file's text: our settings, overridden by the user's. */
  static String render(PostgresConfig config, int port) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("port", Integer.toString(port));
    all.put("listen_addresses", "127.0.0.1");
    all.put("unix_socket_directories", "");
    all.put("password_encryption", "scram-sha-256");
    all.put("max_connections", "200");
    putDurability(all, config.durable());
    putMemory(all, config.durable() ? machineMemoryMib() : 0);
    putVacuum(all);
    putLogging(all);
    all.putAll(config.settings());

    StringBuilder text =
        new StringBuilder(
            "# Written at each start. Change a setting through Lockstep, not here.\n");
    all.forEach((name, value) -> text.append(name).append(" = ").append(quote(value)).append('\n'));
    return text.toString();
  }

  private static void putDurability(Map<String, String> all, boolean durable) {
    String onOff = durable ? "on" : "off";
    all.put("fsync", onOff);
    all.put("full_page_writes", onOff);
    all.put("synchronous_commit", onOff);
    // Under load a checkpoint starts whenever this much was logged, and each page is then logged in
    // full once more. Full pages are not compressed: compression took a sixth of the server's
    // processor time.
    all.put("max_wal_size", "4GB");
    // Kept log files are reused. While a new one is created, every COMMIT waits.
    all.put("min_wal_size", "1GB");
    all.put("checkpoint_completion_target", "0.9");
  }

  /**
   * An eighth of the memory for PostgreSQL's own cache, because the JVM and the page cache share
   * the machine. The planner may assume that half of it caches data.
   */
  private static void putMemory(Map<String, String> all, long machineMib) {
    long shared =
        Math.max(SHARED_BUFFERS_MIN_MIB, Math.min(SHARED_BUFFERS_MAX_MIB, machineMib / 8));
    all.put("shared_buffers", shared + "MB");
    all.put("effective_cache_size", Math.max(2 * shared, machineMib / 2) + "MB");
  }

  /**
   * Autovacuum rests after a budget of work. By default a cached page counts a twentieth of a page
   * to be written; here it counts half. Under load nearly all pages are cached, yet VACUUM took one
   * of two processors for seconds each minute.
   */
  private static void putVacuum(Map<String, String> all) {
    all.put("vacuum_cost_page_hit", "10");
  }

  /** Logs slow statements and lock waits, but never parameters: they may be secret. */
  private static void putLogging(Map<String, String> all) {
    all.put("lc_messages", "C");
    all.put("timezone", "UTC");
    all.put("log_timezone", "UTC");
    all.put("log_line_prefix", "%m [%p] %q%d ");
    all.put("log_checkpoints", "on");
    all.put("log_lock_waits", "on");
    all.put("log_min_duration_statement", "1s");
    all.put("log_parameter_max_length", "0");
    all.put("log_parameter_max_length_on_error", "0");
  }

  private static String quote(String value) {
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'";
  }

  private static long machineMemoryMib() {
    var system =
        ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);
    return system == null ? 0 : system.getTotalMemorySize() / MIB;
  }
}
