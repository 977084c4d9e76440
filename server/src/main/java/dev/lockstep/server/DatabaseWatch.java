package dev.lockstep.server;

import dev.lockstep.server.api.Trouble;
import dev.lockstep.tx.SqlFault;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes to the database twice a second, on a connection of its own, and so knows whether a write
 * works. What it knows is read from memory: a probe costs the database nothing, and waits for
 * nobody. Thread-safe.
 */
final class DatabaseWatch implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DatabaseWatch.class);

  private static final long INTERVAL_MS = 500;
  private static final int STATEMENT_TIMEOUT_SECONDS = 2;
  private static final long CLOSE_TIMEOUT_MS = 5_000;

  /** A disk that was full a moment ago, for somebody, is not well yet. */
  private static final Duration DISK_FULL_FOR = Duration.ofSeconds(5);

  /** One row for all nodes; each write is a transaction of its own, so nobody waits for long. */
  private static final String WRITE = "UPDATE lockstep_server.write_probe SET at = now()";

  /** A history has a row per migration, and one without a version for the schema's own creation. */
  private static final String READ_STATUS =
      """
      SELECT current_setting('server_version'),
             (SELECT count(*) FROM lockstep.flyway_schema_history WHERE success AND version IS NOT NULL)
             + (SELECT count(*) FROM lockstep_server.flyway_schema_history
                WHERE success AND version IS NOT NULL),
             (SELECT version FROM lockstep.flyway_schema_history WHERE success AND version IS NOT NULL
              ORDER BY installed_rank DESC LIMIT 1)
      """;

  /**
   * What the last look found.
   *
   * @param trouble empty: a write works
   * @param status what the database said of itself, the last time it did
   */
  record Finding(Optional<Trouble> trouble, Optional<DatabaseStatus> status) {}

  private final DataSource direct;
  private final int migrationsKnown;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final AtomicLong diskFullNanos =
      new AtomicLong(System.nanoTime() - DISK_FULL_FOR.toNanos());
  private final Thread thread = new Thread(this::watch, "lockstep-database-watch");
  private volatile Finding finding = new Finding(Optional.empty(), Optional.empty());
  private @Nullable Connection connection;

  /**
   * @param direct connections past the pool, with a time-out on everything
   * @param migrationsKnown how many this build knows
   */
  DatabaseWatch(DataSource direct, int migrationsKnown) {
    this.direct = direct;
    this.migrationsKnown = migrationsKnown;
    thread.setDaemon(true);
  }

  /** Looks once, then goes on looking. */
  void start() {
    look();
    thread.start();
  }

  Finding finding() {
    Finding latest = finding;
    boolean diskFull = System.nanoTime() - diskFullNanos.get() < DISK_FULL_FOR.toNanos();
    return diskFull && latest.trouble().isEmpty()
        ? new Finding(Optional.of(Trouble.DISK_FULL), latest.status())
        : latest;
  }

  /** A transaction met this fault. */
  void met(SqlFault fault) {
    if (fault == SqlFault.DISK_FULL) {
      diskFullNanos.set(System.nanoTime());
    }
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      thread.join(CLOSE_TIMEOUT_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void watch() {
    try {
      while (!closed.await(INTERVAL_MS, TimeUnit.MILLISECONDS)) {
        look();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      disconnect();
    }
  }

  private void look() {
    Finding before = finding;
    try {
      finding = new Finding(Optional.empty(), Optional.of(askTwice()));
    } catch (SQLException | RuntimeException e) {
      disconnect();
      finding = new Finding(Optional.of(troubleBehind(e)), before.status());
      if (!finding.trouble().equals(before.trouble())) {
        log.warn("{} ({})", finding.trouble().get().sentence(), firstLine(e));
      }
    }
    if (finding.trouble().isEmpty() && before.trouble().isPresent()) {
      log.info("The database takes writes again");
    }
  }

  /** A connection that somebody ended says nothing about the database; a new one does. */
  private DatabaseStatus askTwice() throws SQLException {
    if (connection != null) {
      try {
        return ask();
      } catch (SQLException e) {
        disconnect();
      }
    }
    return ask();
  }

  private DatabaseStatus ask() throws SQLException {
    Connection current = connection;
    if (current == null) {
      current = direct.getConnection();
      connection = current;
    }
    try (Statement statement = current.createStatement()) {
      statement.setQueryTimeout(STATEMENT_TIMEOUT_SECONDS);
      statement.executeUpdate(WRITE);
      try (ResultSet row = statement.executeQuery(READ_STATUS)) {
        row.next();
        String schemaVersion = row.getString(3);
        return new DatabaseStatus(
            shortVersion(row.getString(1)),
            schemaVersion == null ? "none" : schemaVersion,
            row.getInt(2),
            migrationsKnown);
      }
    }
  }

  private static Trouble troubleBehind(Exception e) {
    SqlFault fault = e instanceof SQLException sql ? SqlFault.of(sql) : SqlFault.OTHER;
    return switch (fault) {
      case READ_ONLY -> Trouble.READ_ONLY;
      case DISK_FULL -> Trouble.DISK_FULL;
      default -> Trouble.GONE;
    };
  }

  private void disconnect() {
    Connection current = connection;
    connection = null;
    if (current != null) {
      try {
        current.abort(Runnable::run);
      } catch (SQLException | RuntimeException e) {
        log.debug("Could not abort a connection", e);
      }
    }
  }

  private static String firstLine(Exception e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
  }

  /** Distributions append their own name: {@code 16.4 (Debian 16.4-1)}. */
  private static String shortVersion(String serverVersion) {
    int end = serverVersion.indexOf(' ');
    return end < 0 ? serverVersion : serverVersion.substring(0, end);
  }
}
