package dev.lockstep.testkit;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * PgBouncer in transaction mode in front of a test database. Each transaction runs on whichever of
 * a few connections is free, so session state is lost or leaks between clients.
 *
 * <p>The program is the one named by {@code LOCKSTEP_PGBOUNCER}, else the one on the path. Close it
 * before the database. Thread-safe.
 */
public final class TransactionPooler implements AutoCloseable {
  private static final String PROGRAM = "pgbouncer";
  private static final int SERVER_CONNECTIONS = 3;
  private static final int CLIENT_CONNECTIONS = 20;
  private static final long END_SECONDS = 10;

  private final Process process;
  private final Path directory;
  private final String url;
  private final HikariDataSource pool;

  private TransactionPooler(Process process, Path directory, String url) {
    this.process = process;
    this.directory = directory;
    this.url = url;
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(CLIENT_CONNECTIONS);
    config.setMinimumIdle(0);
    this.pool = new HikariDataSource(config);
  }

  /**
   * Starts it and waits until it accepts connections.
   *
   * @throws IllegalStateException if PgBouncer is missing; the message says what to install
   */
  public static TransactionPooler start(TestDatabase database) {
    try {
      Path directory = Files.createTempDirectory("lockstep-pooler");
      int port = freePort();
      Path settings =
          Files.writeString(directory.resolve("pgbouncer.ini"), settings(database, port));
      Process process =
          new ProcessBuilder(program().toString(), settings.toString())
              .redirectErrorStream(true)
              .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
              .start();
      awaitUp(process);
      // A statement prepared in one transaction would be missing on the next one's connection.
      return new TransactionPooler(
          process,
          directory,
          "jdbc:postgresql://127.0.0.1:%d/%s?prepareThreshold=0".formatted(port, database.name()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** PgBouncer logs in for all clients, so no user file is needed. */
  private static String settings(TestDatabase database, int port) {
    return """
        [databases]
        %1$s = host=127.0.0.1 port=%2$d dbname=%1$s user=%3$s password=%4$s
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = %5$d
        unix_socket_dir =
        auth_type = any
        pool_mode = transaction
        default_pool_size = %6$d
        max_client_conn = 100
        ignore_startup_parameters = extra_float_digits
        %7$s
        """
        .formatted(
            database.name(),
            database.server().port(),
            database.user(),
            database.password(),
            port,
            SERVER_CONNECTIONS,
            // PgBouncer refuses to run as root.
            "root".equals(System.getProperty("user.name")) ? "user = nobody" : "");
  }

  private static Path program() {
    List<Path> places = new ArrayList<>();
    String named = System.getenv("LOCKSTEP_PGBOUNCER");
    if (named != null) {
      places.add(Path.of(named));
    }
    String path = System.getenv().getOrDefault("PATH", "");
    // Debian installs it outside an ordinary user's path.
    for (String folder : (path + File.pathSeparator + "/usr/sbin").split(File.pathSeparator, -1)) {
      places.add(Path.of(folder.isEmpty() ? "." : folder, PROGRAM));
    }
    return places.stream()
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "pgbouncer was not found; install it (Debian, Ubuntu: apt-get install"
                        + " pgbouncer), or name it in LOCKSTEP_PGBOUNCER"));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static void awaitUp(Process process) throws IOException {
    BufferedReader log = process.inputReader();
    StringBuilder said = new StringBuilder();
    for (String line = log.readLine(); line != null; line = log.readLine()) {
      said.append(line).append('\n');
      if (line.contains("process up")) {
        Thread reader = new Thread(() -> log.lines().forEach(rest -> {}), "pooler-log");
        reader.setDaemon(true);
        reader.start();
        return;
      }
    }
    throw new IOException("PgBouncer did not start:\n" + said);
  }

  /** Connections through the pooler. */
  public DataSource dataSource() {
    return pool;
  }

  /** A URL for other processes; needs no user and password. */
  public String url() {
    return url;
  }

  @Override
  public void close() {
    pool.close();
    process.destroy();
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
      Files.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
