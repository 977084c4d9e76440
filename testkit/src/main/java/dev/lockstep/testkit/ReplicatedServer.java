package dev.lockstep.testkit;

import dev.lockstep.postgres.PostgresConfig;
import dev.lockstep.postgres.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;

/**
 * A primary and a synchronous standby, for failover tests. An acknowledged commit is on both.
 *
 * <p>The standby starts as a copy of the primary's files and then streams. Thread-safe; closing
 * stops both and deletes their data.
 */
public final class ReplicatedServer implements AutoCloseable {
  private static final String DATABASE = "lockstep";
  private static final String NAME = "standby";
  private static final int CONNECTIONS = 100;

  private final Path directory;
  private final PostgresServer primary;
  private final PostgresServer standby;

  private ReplicatedServer(Path directory, PostgresServer primary, PostgresServer standby) {
    this.directory = directory;
    this.primary = primary;
    this.standby = standby;
  }

  /**
   * Starts both, with the database {@code lockstep}, and returns once the standby follows.
   *
   * @param migrated whether the database has core's tables
   */
  public static ReplicatedServer start(boolean migrated) {
    try {
      Path directory = Files.createTempDirectory("lockstep-replicated-");
      PostgresConfig first = config(directory.resolve("primary"));
      PostgresServer primary = PostgresServer.start(first);
      int port = primary.port();
      if (migrated) {
        TestServer.migrate(primary, DATABASE);
      }
      primary.stop();
      Path second = directory.resolve("standby");
      copy(first.directory(), second);
      Files.createFile(second.resolve("data").resolve("standby.signal"));
      primary = PostgresServer.start(first.withPort(port));
      PostgresServer standby =
          PostgresServer.start(
              config(second)
                  .withSetting(
                      "primary_conninfo",
                      "host=127.0.0.1 port=%d user=%s password=%s application_name=%s"
                          .formatted(port, primary.user(), primary.password(), NAME)));
      ReplicatedServer pair = new ReplicatedServer(directory, primary, standby);
      pair.awaitFollowing();
      // From now on a COMMIT waits for the standby.
      execute(primary, "ALTER SYSTEM SET synchronous_standby_names = '" + NAME + "'");
      execute(primary, "SELECT pg_reload_conf()");
      return pair;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static PostgresConfig config(Path directory) {
    return PostgresConfig.forTests(directory)
        .withSetting("synchronous_commit", "on")
        .withSetting("max_connections", Integer.toString(CONNECTIONS))
        .withSetting("wal_receiver_status_interval", "1");
  }

  /** A URL with both servers; the driver chooses the one that accepts writes. */
  public String url() {
    return "jdbc:postgresql://127.0.0.1:%d,127.0.0.1:%d/%s?targetServerType=primary&%s"
        .formatted(primary.port(), standby.port(), DATABASE, credentials());
  }

  /** The server that is the primary at first. */
  public String primaryUrl() {
    return primary.url(DATABASE) + "?" + credentials();
  }

  /** The server that is a standby until it is promoted. */
  public String standbyUrl() {
    return standby.url(DATABASE) + "?" + credentials();
  }

  private String credentials() {
    return "user=" + primary.user() + "&password=" + primary.password();
  }

  /**
   * Promotes the standby: it accepts writes from now on. Commits on the old primary are no longer
   * acknowledged.
   */
  public void promote() {
    // Without waiting in the statement: what the standby still has to replay could cancel it.
    execute(standby, "SELECT pg_promote(false)");
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (isInRecovery(standby)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("The standby was not promoted within 60 s");
      }
      Thread.onSpinWait();
    }
  }

  /** Ends the primary as a power cut would. */
  public void crashPrimary() {
    primary.crash();
  }

  /** Stops the primary in order, telling its clients. */
  public void stopPrimary() {
    primary.stop();
  }

  private void awaitFollowing() {
    try (Connection connection = DriverManager.getConnection(primaryUrl());
        Statement statement = connection.createStatement()) {
      long deadline = System.nanoTime() + 60_000_000_000L;
      while (!isFollowed(statement)) {
        if (System.nanoTime() > deadline) {
          throw new AssertionError("The standby did not start streaming within 60 s");
        }
        Thread.onSpinWait();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean isFollowed(Statement statement) throws SQLException {
    try (ResultSet row =
        statement.executeQuery(
            "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")) {
      row.next();
      return row.getInt(1) == 1;
    }
  }

  private static boolean isInRecovery(PostgresServer server) {
    try (Connection connection =
            DriverManager.getConnection(server.url(DATABASE), server.user(), server.password());
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_is_in_recovery()")) {
      row.next();
      return row.getBoolean(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void execute(PostgresServer server, String sql) {
    try (Connection connection =
            DriverManager.getConnection(server.url(DATABASE), server.user(), server.password());
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    List<Path> files;
    try (Stream<Path> walk = Files.walk(from)) {
      files = walk.toList();
    }
    for (Path file : files) {
      // With its permissions, which PostgreSQL insists on.
      Files.copy(
          file,
          to.resolve(from.relativize(file).toString()),
          java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);
    }
  }

  @Override
  public void close() {
    standby.discard();
    primary.discard();
    try {
      Files.deleteIfExists(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
