package dev.lockstep.migration;

import dev.lockstep.fault.LockTimeout;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lockstep's tables, in the schema {@code lockstep}. Call {@link #apply} when the application
 * starts; where another role migrates, call {@link #verify}.
 *
 * <p>The scripts are also a Flyway location, {@code classpath:db/lockstep}. Give them a Flyway of
 * their own with {@code defaultSchema("lockstep")}: its history is then the one written here, and
 * your own scripts, with their own history, can start at {@code V1}.
 */
public final class Migrations {
  private static final Logger log = LoggerFactory.getLogger(Migrations.class);

  // The lock that Flyway takes for this history: its own number plus the hash of the table's name.
  private static final long LOCK =
      77_431_708_279_161L + "\"lockstep\".\"flyway_schema_history\"".hashCode();

  // A large table may take long to change, and other nodes wait for it.
  private static final Duration PATIENCE = Duration.ofHours(1);

  // While a script waits for a table, everybody else queues behind it. So it waits less long than
  // they do (3 s), and then lets them pass; but longer than deadlock_timeout (1 s), after which
  // PostgreSQL cancels an autovacuum that is in the way.
  private static final Duration TABLE_LOCK_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private static final TxOptions OPTIONS =
      TxOptions.DEFAULT
          .withLabel("migrations")
          .withStatementTimeout(PATIENCE)
          .withLockTimeout(PATIENCE)
          .withTransactionTimeout(PATIENCE)
          .withDeadline(PATIENCE);

  private static final List<Script> SCRIPTS = Script.all();

  private Migrations() {}

  /** As {@link #apply(Transactor)}, with a Transactor of its own. */
  public static int apply(DataSource dataSource) {
    return apply(new Transactor(dataSource));
  }

  /**
   * Runs the scripts that the database does not have yet. A new database gets all of them in one
   * transaction, or none; an older one gets one script per transaction, so that no lock outlasts
   * its script. Safe when several nodes start at once, beside nodes of the former release, and when
   * there is nothing to do. A database that a newer release migrated stays as it is.
   *
   * @return how many scripts ran
   * @throws SchemaMismatch if a script that ran differs from this release's, or Flyway left one
   *     half done
   * @throws LockTimeout if long transactions kept a table for an hour
   * @throws dev.lockstep.fault.StatementTimeout if other nodes migrated for an hour; or {@link
   *     dev.lockstep.fault.DeadlineExceeded}
   */
  public static int apply(Transactor transactor) {
    int ran = 0;
    for (int some = applySome(transactor); some > 0; some = applySome(transactor)) {
      ran += some;
    }
    if (ran > 0) {
      log.info("Ran {} migrations; the schema lockstep is at version {}", ran, newest());
    }
    return ran;
  }

  private static int applySome(Transactor transactor) {
    long beganNanos = System.nanoTime();
    while (true) {
      try {
        // After a COMMIT in doubt the history says what is left to do.
        return transactor.call(OPTIONS, Migrations::applyMissing, connection -> Optional.empty());
      } catch (LockTimeout e) {
        if (System.nanoTime() - beganNanos > PATIENCE.toNanos()
            || Thread.currentThread().isInterrupted()) {
          throw e;
        }
        log.info("A migration waits for a table that a transaction has locked: {}", e.getMessage());
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  /** As {@link #verify(Transactor)}, with a Transactor of its own. */
  public static void verify(DataSource dataSource) {
    verify(new Transactor(dataSource));
  }

  /**
   * Checks that the database has every script of this release. Reads only.
   *
   * @throws SchemaMismatch with both versions if it does not
   */
  public static void verify(Transactor transactor) {
    transactor.run(OPTIONS.asReadOnly(), connection -> requireCurrent(History.read(connection)));
  }

  private static int applyMissing(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_advisory_xact_lock(%d)".formatted(LOCK));
      History history = History.read(connection);
      requireSame(history);
      List<Script> missing = missing(history);
      if (missing.isEmpty()) {
        return 0;
      }
      statement.execute("SET LOCAL lock_timeout = " + TABLE_LOCK_TIMEOUT.toMillis());
      // A script is PostgreSQL's SQL; braces in it are not JDBC escapes.
      statement.setEscapeProcessing(false);
      if (!history.exists()) {
        History.create(statement);
      }
      List<Script> now = history.exists() ? missing.subList(0, 1) : missing;
      int rank = history.lastRank();
      for (Script script : now) {
        long began = System.nanoTime();
        statement.execute(script.sql());
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        History.add(connection, ++rank, script, millis);
      }
      return now.size();
    }
  }

  private static void requireCurrent(History history) {
    requireSame(history);
    if (!history.exists()) {
      throw new SchemaMismatch(
          "The database has no tables of Lockstep; this release needs version "
              + newest()
              + ". Call Migrations.apply, or let Flyway run classpath:db/lockstep.");
    }
    List<Script> missing = missing(history);
    if (!missing.isEmpty()) {
      throw new SchemaMismatch(
          "The schema lockstep is at version "
              + history.version()
              + "; this release needs "
              + newest()
              + " ("
              + missing.get(0).file()
              + (missing.size() == 1 ? "" : " and " + (missing.size() - 1) + " more")
              + "). Call Migrations.apply, or let Flyway run classpath:db/lockstep.");
    }
  }

  private static void requireSame(History history) {
    for (Script script : SCRIPTS) {
      if (history.differs(script)) {
        throw new SchemaMismatch(
            script.file()
                + " is not the script that ran in this database: their checksums differ.");
      }
    }
  }

  private static List<Script> missing(History history) {
    return SCRIPTS.stream().filter(script -> !history.has(script)).toList();
  }

  private static int newest() {
    return SCRIPTS.get(SCRIPTS.size() - 1).number();
  }
}
