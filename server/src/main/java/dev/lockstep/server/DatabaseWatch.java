package dev.lockstep.server;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.server.api.Trouble;
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
 *
 * <p>A database that stands still, or a network that swallows everything, ends no call: the look
 * that asks it waits. So trouble is found in two ways. A look that ended says what it met. And when
 * nobody had an answer for {@link Silence#LONGEST}, neither a look nor any transaction, the
 * database is gone, whatever the look that is under way waits for. A database that is slow under
 * its load answers somebody, and is not gone.
 */
final class DatabaseWatch implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DatabaseWatch.class);

  private static final long INTERVAL_MS = 500;
  private static final long CLOSE_TIMEOUT_MS = 500;

  /** A disk that was full a moment ago, for somebody, is not well yet. */
  private static final Duration DISK_FULL_FOR = Duration.ofSeconds(5);

  /**
   * One row for all nodes. The statements travel in one message, so they are one transaction that
   * no node can leave open by standing still. The database itself cuts off a write that waits for
   * somebody's lock: that is an answer, and comes before silence is found. A history has a row per
   * migration, and one without a version for the schema's own creation.
   */
  private static final String LOOK =
      """
      SET LOCAL statement_timeout = 1000;
      UPDATE lockstep_server.write_probe SET at = now();
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
  record Finding(Optional<Trouble> trouble, Optional<DatabaseStatus> status) {
    boolean gone() {
      return trouble.filter(Trouble.GONE::equals).isPresent();
    }
  }

  private final DataSource direct;
  private final int migrationsKnown;
  private final Runnable back;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final AtomicLong diskFullNanos =
      new AtomicLong(System.nanoTime() - DISK_FULL_FOR.toNanos());
  private final Silence silence = new Silence();
  private final Thread looker = new Thread(this::watch, "lockstep-database-watch");
  private final Thread ticker = new Thread(this::tick, "lockstep-database-silence");
  private volatile Finding finding = new Finding(Optional.empty(), Optional.empty());
  private volatile @Nullable Connection connection;
  // Of the thread that looks.
  private Optional<Trouble> logged = Optional.empty();

  /**
   * @param direct connections past the pool, with a time-out on everything, that send a string of
   *     statements as one message
   * @param migrationsKnown how many this build knows
   * @param back called when a database that was gone answers again, before anybody is told
   */
  DatabaseWatch(DataSource direct, int migrationsKnown, Runnable back) {
    this.direct = direct;
    this.migrationsKnown = migrationsKnown;
    this.back = back;
    looker.setDaemon(true);
    ticker.setDaemon(true);
  }

  /** Looks once, then goes on looking. */
  void start() {
    look();
    silence.heard();
    looker.start();
    ticker.start();
  }

  Finding finding() {
    Finding latest = finding;
    if (latest.trouble().isPresent()) {
      return latest;
    }
    if (silence.tooLong()) {
      return new Finding(Optional.of(Trouble.GONE), latest.status());
    }
    boolean diskFull = System.nanoTime() - diskFullNanos.get() < DISK_FULL_FOR.toNanos();
    return diskFull ? new Finding(Optional.of(Trouble.DISK_FULL), latest.status()) : latest;
  }

  /** A transaction met this fault. */
  void met(SqlFault fault) {
    if (fault == SqlFault.DISK_FULL) {
      diskFullNanos.set(System.nanoTime());
    }
  }

  /** A transaction was committed: the database answers. */
  void heard() {
    silence.heard();
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      looker.join(CLOSE_TIMEOUT_MS);
      if (looker.isAlive()) {
        // It waits for an answer that nobody needs any more.
        disconnect();
        looker.join(CLOSE_TIMEOUT_MS);
      }
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

  /** Says once that there is silence; that it is over is said by the look that found it so. */
  private void tick() {
    boolean told = false;
    try {
      while (!closed.await(Silence.TICK_MS, TimeUnit.MILLISECONDS)) {
        silence.tick();
        boolean silent = silence.tooLong();
        if (silent && !told && finding.trouble().isEmpty()) {
          log.warn("{} (no answer for {} ms)", Trouble.GONE.sentence(), Silence.LONGEST.toMillis());
        }
        told = silent;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look() {
    Finding known = finding;
    try {
      Finding found = new Finding(Optional.empty(), Optional.of(askTwice()));
      answered(found);
    } catch (SQLException | RuntimeException e) {
      SqlFault fault = e instanceof SQLException sql ? SqlFault.of(sql) : SqlFault.OTHER;
      if (fault == SqlFault.CANCELLED) {
        // Somebody has the row, or the machine is busy; but the database has said so.
        answered(new Finding(Optional.empty(), known.status()));
        return;
      }
      disconnect();
      Trouble trouble = troubleBehind(fault);
      finding = new Finding(Optional.of(trouble), known.status());
      if (!logged.equals(finding.trouble())) {
        log.warn("{} ({})", trouble.sentence(), firstLine(e));
      }
      logged = finding.trouble();
    }
  }

  private void answered(Finding found) {
    Finding before = finding();
    if (before.gone()) {
      back.run();
    }
    silence.heard();
    finding = found;
    Optional<Trouble> now = finding().trouble();
    if (now.isEmpty() && (logged.isPresent() || before.trouble().isPresent())) {
      log.info("The database takes writes again");
    } else if (now.isPresent() && !now.equals(logged)) {
      log.warn("{}", now.get().sentence());
    }
    logged = now;
  }

  /** A connection that somebody ended says nothing about the database; a new one does. */
  private DatabaseStatus askTwice() throws SQLException {
    if (connection != null) {
      try {
        return ask();
      } catch (SQLException e) {
        if (SqlFault.of(e) == SqlFault.CANCELLED) {
          throw e;
        }
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
      boolean rows = statement.execute(LOOK);
      while (!rows) {
        rows = statement.getMoreResults();
      }
      try (ResultSet row = statement.getResultSet()) {
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

  private static Trouble troubleBehind(SqlFault fault) {
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
