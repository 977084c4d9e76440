package dev.lockstep.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.postgres.PostgresConfig;
import dev.lockstep.postgres.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/** The one database of a run: durable, migrated, gone afterwards unless it was brought along. */
final class BenchDatabase implements AutoCloseable {
  /** What the interactive contenders get; more would only queue inside the server. */
  static final int POOL_SIZE = 50;

  private static final String COUNTER = "pg_stat_statements";

  // More than is logged between two checkpoints of a run.
  private static final int LOG_FILES = 128;
  private static final int LOG_FILE_MIB = 16;

  private final @Nullable PostgresServer server;
  private final HikariDataSource pool;
  // Whoever interrupts a benchmark gets the machine back as it was.
  private final Thread stopper = new Thread(this::interrupted, "stop-database");
  private boolean closed;

  private BenchDatabase(@Nullable PostgresServer server, HikariConfig config) {
    this.server = server;
    config.setMaximumPoolSize(POOL_SIZE);
    config.setConnectionTimeout(120_000);
    this.pool = new HikariDataSource(config);
    Runtime.getRuntime().addShutdownHook(stopper);
  }

  static BenchDatabase open(String url) throws IOException, SQLException {
    HikariConfig config = new HikariConfig();
    BenchDatabase database;
    if (url.isEmpty()) {
      Path directory = Files.createTempDirectory("lockstep-bench");
      PostgresServer server =
          PostgresServer.start(
              PostgresConfig.durable(directory)
                  // There when statements are to be counted, and off until then.
                  .withSetting("shared_preload_libraries", COUNTER)
                  .withSetting(COUNTER + ".track", "none")
                  .withSetting("min_wal_size", LOG_FILES * LOG_FILE_MIB + "MB"));
      config.setJdbcUrl(server.url());
      config.setUsername(server.user());
      config.setPassword(server.password());
      database = new BenchDatabase(server, config);
      database.makeLogFiles();
    } else {
      config.setJdbcUrl(url);
      database = new BenchDatabase(null, config);
    }
    Flyway.configure()
        .dataSource(database.pool)
        .locations("classpath:db/lockstep")
        .defaultSchema("lockstep")
        .createSchemas(true)
        .load()
        .migrate();
    return database;
  }

  /**
   * A server that has been busy before uses its log files again. In a new one the writer waits for
   * each to be made, and so would whoever is measured.
   */
  private void makeLogFiles() throws SQLException {
    execute(
        """
        DO $$ BEGIN
          FOR i IN 1 .. %d LOOP
            PERFORM pg_logical_emit_message(false, '', ''), pg_switch_wal();
          END LOOP;
        END $$"""
            .formatted(LOG_FILES));
    execute("CHECKPOINT");
  }

  /** With user and password, for another process. */
  String url() {
    String base = pool.getJdbcUrl();
    return pool.getUsername() == null
        ? base
        : "%s%suser=%s&password=%s"
            .formatted(
                base, base.contains("?") ? "&" : "?", pool.getUsername(), pool.getPassword());
  }

  HikariDataSource pool() {
    return pool;
  }

  /** Connections past the pool. */
  DataSource direct() {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(url());
    return source;
  }

  /** Nobody pays for what the one before, or the making of its own rows, left to be written. */
  void settle() throws SQLException {
    execute("VACUUM ANALYZE");
    execute("CHECKPOINT");
  }

  /** What the server was asked in a while. */
  record Statements(long onTables, long transactions, long all) {}

  /** Something to wait for. */
  @FunctionalInterface
  interface Stretch {
    void pass() throws InterruptedException;
  }

  boolean canCountStatements() throws SQLException {
    return text("SHOW shared_preload_libraries").contains(COUNTER)
        && text("SELECT usesuper FROM pg_user WHERE usename = current_user").equals("t");
  }

  /**
   * Counts what is asked meanwhile, by anybody. The counter says nothing of COMMIT, but does of
   * BEGIN.
   *
   * @param heard passes in the time that every session needs to hear that counting is on
   */
  Statements countStatements(Stretch heard, Stretch stretch)
      throws SQLException, InterruptedException {
    execute("CREATE EXTENSION IF NOT EXISTS " + COUNTER);
    execute("ALTER SYSTEM SET %s.track = 'top'".formatted(COUNTER));
    execute("SELECT pg_reload_conf()");
    heard.pass();
    execute("SELECT %s_reset()".formatted(COUNTER));
    stretch.pass();
    long transactions = number(counting("query = 'BEGIN'"));
    Statements counted =
        new Statements(
            number(counting("query LIKE '%lockstep.%'")),
            transactions,
            number(counting("query NOT LIKE '%%%s%%'".formatted(COUNTER))) + transactions);
    execute("ALTER SYSTEM RESET %s.track".formatted(COUNTER));
    execute("SELECT pg_reload_conf()");
    return counted;
  }

  private static String counting(String which) {
    return "SELECT coalesce(sum(calls), 0) FROM %s WHERE %s".formatted(COUNTER, which);
  }

  void execute(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  long number(String sql) throws SQLException {
    return Long.parseLong(text(sql));
  }

  String text(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(stopper);
    } catch (IllegalStateException ending) {
      // The JVM is stopping already, and the stopper does it.
      return;
    }
    stop();
  }

  /** The server that is measured, and Redis, have to go before their database does. */
  private void interrupted() {
    ProcessHandle.current().children().forEach(ProcessHandle::destroy);
    stop();
  }

  private synchronized void stop() {
    if (closed) {
      return;
    }
    closed = true;
    pool.close();
    if (server != null) {
      server.discard();
    }
  }
}
