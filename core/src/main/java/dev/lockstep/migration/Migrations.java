package dev.lockstep.migration;

import dev.lockstep.tx.AdvisoryLocks;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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

  private static final String LOCK = "lockstep migrations";

  // A large table may take long to change, and other nodes wait for it.
  private static final Duration PATIENCE = Duration.ofHours(1);

  private static final TxOptions OPTIONS =
      TxOptions.DEFAULT
          .withLabel("migrations")
          .withStatementTimeout(PATIENCE)
          .withLockTimeout(PATIENCE)
          .withTransactionTimeout(PATIENCE)
          .withDeadline(PATIENCE);

  private static final List<Script> SCRIPTS = Script.all();

  private Migrations() {}

  /**
   * Runs the scripts that the database does not have yet, all in one transaction: all or none. Safe
   * when several nodes start at once, and when there is nothing to do. A database that a newer
   * release migrated stays as it is.
   *
   * @return how many scripts ran
   * @throws SchemaMismatch if a script that ran differs from this release's, or Flyway left one
   *     half done
   */
  public static int apply(DataSource dataSource) {
    Transactor transactor = new Transactor(dataSource);
    int ran =
        transactor.call(
            OPTIONS,
            Migrations::applyMissing,
            // After a COMMIT in doubt: everything is there, or nothing.
            connection ->
                missing(History.read(connection)).isEmpty() ? Optional.of(0) : Optional.empty());
    if (ran > 0) {
      log.info("Ran {} migrations; the schema lockstep is at version {}", ran, newest());
    }
    return ran;
  }

  /**
   * Checks that the database has every script of this release. Reads only.
   *
   * @throws SchemaMismatch with both versions if it does not
   */
  public static void verify(DataSource dataSource) {
    new Transactor(dataSource)
        .run(OPTIONS.asReadOnly(), connection -> requireCurrent(History.read(connection)));
  }

  private static int applyMissing(Connection connection) throws SQLException {
    AdvisoryLocks.lock(connection, LOCK);
    History history = History.read(connection);
    requireSame(history);
    List<Script> missing = missing(history);
    if (missing.isEmpty()) {
      return 0;
    }
    try (Statement statement = connection.createStatement()) {
      // A script is PostgreSQL's SQL; braces in it are not JDBC escapes.
      statement.setEscapeProcessing(false);
      if (!history.exists()) {
        statement.execute("CREATE SCHEMA IF NOT EXISTS lockstep");
        History.create(statement);
      }
      int rank = history.lastRank();
      for (Script script : missing) {
        long began = System.nanoTime();
        statement.execute(script.sql());
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        History.add(connection, ++rank, script, millis);
      }
    }
    return missing.size();
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
