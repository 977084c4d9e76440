package dev.lockstep.server.database;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.server.lifecycle.CannotStart;
import dev.lockstep.tx.TxAttempt;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.flywaydb.core.api.FlywayException;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.PreferQueryMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server's database: reachable, of a supported release, migrated, behind a pool. Thread-safe;
 * every method blocks, so do not call them on an event loop.
 */
public final class Database implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Database.class);

  private static final String CORE_SCHEMA = "lockstep";
  private static final String CORE_MIGRATIONS = "classpath:db/lockstep";
  private static final String SERVER_SCHEMA = "lockstep_server";
  private static final String SERVER_MIGRATIONS = "classpath:db/server";

  /** Numbered with the server's, and in the server's history. */
  private static final String GATEWAY_MIGRATIONS = "classpath:db/gateway";

  private static final int PROBE_TIMEOUT_SECONDS = 3;

  /** Another node may do the same; one of the two then finds the work done. */
  private static final String CREATE_SCHEMAS =
      """
      DO $$
      DECLARE
        wanted text;
      BEGIN
        FOREACH wanted IN ARRAY ARRAY['lockstep', 'lockstep_server'] LOOP
          IF to_regnamespace(wanted) IS NULL THEN
            BEGIN
              EXECUTE format('CREATE SCHEMA %I', wanted);
            EXCEPTION WHEN duplicate_schema OR unique_violation THEN
              NULL;
            END;
          END IF;
        END LOOP;
      END $$""";

  private final DatabaseAddress address;
  private final HikariDataSource pool;
  private final HikariDataSource reports;
  private final DatabaseWatch watch;
  private final DataSource gate;
  private final DataSource reportsGate;

  private Database(
      DatabaseAddress address,
      DatabaseSettings settings,
      HikariDataSource pool,
      int migrationsKnown) {
    this.address = address;
    this.pool = pool;
    // One per report thread, so that reports do not wait for each other.
    this.reports = pool(address, settings, "lockstep-reports", settings.workers().reportThreads());
    PGSimpleDataSource direct = direct(address);
    direct.setConnectTimeout(PROBE_TIMEOUT_SECONDS);
    direct.setSocketTimeout(PROBE_TIMEOUT_SECONDS);
    direct.setPreferQueryMode(PreferQueryMode.SIMPLE);
    this.watch = new DatabaseWatch(direct, migrationsKnown, this::forgetConnections);
    BooleanSupplier gone = () -> watch.finding().gone();
    this.gate = new DatabaseGate(pool, gone);
    this.reportsGate = new DatabaseGate(reports, gone);
  }

  /**
   * Checks, opens the pool and migrates, in this order, so nothing is written to an unsupported
   * database.
   *
   * @throws CannotStart when any step is refused
   */
  public static Database open(DatabaseAddress address, DatabaseSettings settings) {
    checkVersion(address);
    HikariDataSource pool = pool(address, settings, "lockstep", settings.poolSize());
    try {
      Database database = new Database(address, settings, pool, migrateAll(pool, address));
      database.watch.start();
      return database;
    } catch (FlywayException | SQLException e) {
      pool.close();
      throw DatabaseRefusal.ofMigrating(e, address);
    } catch (RuntimeException | Error e) {
      pool.close();
      throw e;
    }
  }

  /** Fails at once while the database is known to be gone. */
  public DataSource dataSource() {
    return gate;
  }

  /** The watch's current finding, from memory. */
  public DatabaseWatch.Finding finding() {
    return watch.finding();
  }

  /** Reports the outcome of a transaction attempt, which says something about the database. */
  public void met(TxAttempt attempt) {
    if (attempt.outcome() == TxAttempt.TxOutcome.COMMITTED) {
      watch.heard();
    }
    attempt.fault().ifPresent(watch::met);
    if (attempt.fault().filter(SqlFault.READ_ONLY::equals).isPresent()) {
      forgetConnections();
    }
  }

  /** For operators' reads, which may be slow: connections that no sale waits for. */
  public DataSource reports() {
    return reportsGate;
  }

  /** How busy the pool is; never blocks. */
  public HikariPoolMXBean poolFigures() {
    return pool.getHikariPoolMXBean();
  }

  /** Dedicated connections outside the pool, for notifications, which occupy one permanently. */
  public DataSource direct() {
    return direct(address);
  }

  private static PGSimpleDataSource direct(DatabaseAddress address) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setURL(address.url());
    Properties properties = address.properties();
    source.setApplicationName(properties.getProperty("ApplicationName"));
    source.setConnectTimeout(Integer.parseInt(properties.getProperty("connectTimeout")));
    source.setTcpKeepAlive(true);
    if (properties.containsKey("user")) {
      source.setUser(properties.getProperty("user"));
      source.setPassword(properties.getProperty("password"));
    }
    return source;
  }

  /**
   * Retires the pools' current connections. Either their server takes no writes (a standby or
   * former primary), or the database was unreachable and is back; the old connections are then
   * probably dead, and callers would find out by waiting.
   */
  private void forgetConnections() {
    pool.getHikariPoolMXBean().softEvictConnections();
    reports.getHikariPoolMXBean().softEvictConnections();
  }

  /** The pool's maximum size. */
  public int poolSize() {
    return pool.getMaximumPoolSize();
  }

  public DatabaseAddress address() {
    return address;
  }

  @Override
  public void close() {
    watch.close();
    reports.close();
    pool.close();
  }

  /** Bypasses the pool, which would retry until its timeout and hide the reason. */
  private static void checkVersion(DatabaseAddress address) {
    int version;
    try (Connection connection = DriverManager.getConnection(address.url(), address.properties());
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW server_version_num")) {
      row.next();
      version = row.getInt(1);
    } catch (SQLException e) {
      throw DatabaseRefusal.ofConnecting(e, address);
    }
    SupportedVersion.check(version).ifPresent(log::warn);
  }

  private static HikariDataSource pool(
      DatabaseAddress address, DatabaseSettings settings, String name, int size) {
    HikariConfig config = new HikariConfig();
    config.setPoolName(name);
    config.setJdbcUrl(address.url());
    config.setDataSourceProperties(address.properties());
    config.setMaximumPoolSize(size);
    config.setConnectionTimeout(settings.poolWait().toMillis());
    return new HikariDataSource(config);
  }

  /**
   * Two histories, core's first: in a single one, a new core migration would be numbered below the
   * server's and refused as out of order. It also lets a user's own tool maintain core's alone.
   *
   * @return how many migrations this build knows
   */
  private static int migrateAll(DataSource pool, DatabaseAddress address) throws SQLException {
    createSchemas(pool);
    return migrate(pool, address, CORE_SCHEMA, CORE_MIGRATIONS)
        + migrate(pool, address, SERVER_SCHEMA, SERVER_MIGRATIONS, GATEWAY_MIGRATIONS);
  }

  /** Flyway could do this, but without permission it would retry ten times, a second apart. */
  private static void createSchemas(DataSource pool) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(CREATE_SCHEMAS);
    }
  }

  /**
   * Migrates one schema. Several nodes may do so at once; Flyway's lock lets one work. That lock is
   * transactional by default, as required: behind a transaction-mode pooler, a session lock would
   * be stranded.
   */
  private static int migrate(
      DataSource pool, DatabaseAddress address, String schema, String... migrations) {
    SchemaScripts scripts = new SchemaScripts(pool, schema, migrations);
    int applied = scripts.run();
    if (applied > 0) {
      log.info("Applied {} migration(s) to schema {} in {}", applied, schema, address.place());
    }
    return scripts.known();
  }
}
