package dev.lockstep.server.database;

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
 * Writes to the database twice a second on a dedicated connection, and so knows whether writes
 * work. Readers get the state from memory, so a health check costs the database nothing and never
 * waits. Thread-safe.
 *
 * <p>A call to a stalled database, or over a silent network, hangs until its timeout. Trouble is
 * therefore detected in two ways: a probe that ends reports what it met; and if neither a probe nor
 * any transaction got an answer for {@link Silence#LONGEST}, the database is gone, whatever the
 * current probe waits for. A database that is slow under load still answers some calls, and is not
 * gone.
 */
public final class DatabaseWatch implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DatabaseWatch.class);

  private static final long INTERVAL_MS = 500;
  private static final long CLOSE_TIMEOUT_MS = 500;

  /** A disk that was full a moment ago does not count as healthy yet. */
  private static final Duration DISK_FULL_FOR = Duration.ofSeconds(5);

  /**
   * One row for all nodes. The statements travel in one message, hence in one transaction that no
   * stalled node can leave open. The database itself cancels a write that waits for a lock: that is
   * an answer, and comes before silence is assumed. A history has one row per migration, and one
   * without a version for the creation of the schema.
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
   * The result of the last probe.
   *
   * @param trouble empty if writes work
   * @param status the database's last reported state
   */
  public record Finding(Optional<Trouble> trouble, Optional<DatabaseStatus> status) {
    public boolean gone() {
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
  // Used only by the probing thread.
  private Optional<Trouble> logged = Optional.empty();

  /**
   * @param direct connections outside the pool, with timeouts on everything, that send a string of
   *     statements as one message
   * @param migrationsKnown how many this build knows
   * @param back called when a lost database answers again, before anyone is told
   */
  DatabaseWatch(DataSource direct, int migrationsKnown, Runnable back) {
    this.direct = direct;
    this.migrationsKnown = migrationsKnown;
    this.back = back;
    looker.setDaemon(true);
    ticker.setDaemon(true);
  }

  /** Probes once, then periodically. */
  public void start() {
    look();
    silence.heard();
    looker.start();
    ticker.start();
  }

  public Finding finding() {
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

  /** A transaction failed with this fault. */
  public void met(SqlFault fault) {
    if (fault == SqlFault.DISK_FULL) {
      diskFullNanos.set(System.nanoTime());
    }
  }

  /** A transaction committed: the database answers. */
  public void heard() {
    silence.heard();
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      looker.join(CLOSE_TIMEOUT_MS);
      if (looker.isAlive()) {
        // Aborts the probe: nobody needs its answer any more.
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

  /** Reports silence once; the probe that ends it reports its end. */
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
        // The row is locked, or the machine is busy; but the database has answered.
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

  /** One broken connection says nothing about the database; a new one does. */
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

  /** Drops what distributions append: {@code 16.4 (Debian 16.4-1)}. */
  private static String shortVersion(String serverVersion) {
    int end = serverVersion.indexOf(' ');
    return end < 0 ? serverVersion : serverVersion.substring(0, end);
  }
}
