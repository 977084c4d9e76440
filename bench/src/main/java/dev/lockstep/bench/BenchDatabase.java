package dev.lockstep.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.migration.Migrations;
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
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/** The one database of a run: durable, migrated, and removed afterwards unless it was supplied. */
final class BenchDatabase implements AutoCloseable {
  /** The pool of the interactive contenders; a larger one would only queue inside the server. */
  static final int POOL_SIZE = 50;

  private static final String COUNTER = "pg_stat_statements";

  // More than a run logs between two checkpoints.
  private static final int LOG_FILES = 128;
  private static final int LOG_FILE_MIB = 16;

  private final @Nullable PostgresServer server;
  private final HikariDataSource pool;
  // Cleans up after an interrupt.
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
                  // Loaded for counting statements, and off until then.
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
    Migrations.apply(database.pool);
    return database;
  }

  /**
   * A busy server reuses its log files. In a new one, the writer waits for each file to be created,
   * and so would the contender.
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

  /** The URL with user and password, for another process. */
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

  /** Connections that bypass the pool. */
  DataSource direct() {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(url());
    return source;
  }

  /**
   * Flushes what earlier contenders or the setup left to write, so that the next one does not pay
   * for it.
   */
  void settle() throws SQLException {
    execute("VACUUM ANALYZE");
    execute("CHECKPOINT");
  }

  /** How many statements the server received. */
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
   * Counts all sessions' statements of the stretch. The counter misses COMMIT, but counts BEGIN.
   *
   * @param heard waits until every session has noticed that counting is on
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
            // Not the setting lockstep.transaction, which every transaction sets and reads.
            number(counting("query ~ 'lockstep[.](?!transaction)'")),
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
      // The JVM is already stopping, and the stopper does it.
      return;
    }
    stop();
  }

  /** Stops the measured server and Redis before their database. */
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
