package dev.lockstep.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running PostgreSQL server that this process owns.
 *
 * <p>Promises: it listens on 127.0.0.1 only and requires a password. With {@link
 * PostgresConfig#durable()} an acknowledged commit survives a crash of server, process or machine.
 * A second start on the same folder fails at once and does no harm. If this process is killed, the
 * next start stops the leftover server and recovers. Closing takes well under a minute, whatever
 * clients do.
 *
 * <p>Thread-safe. The end of the JVM does not stop the server: close it. A {@link PostgresKeeper}
 * restarts it after an unexpected end.
 */
public final class PostgresServer implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(PostgresServer.class);
  private static final String DATABASE = "lockstep";
  private static final long LOOK_MS = 500;
  private static final String LOOPBACK = "127.0.0.1";
  private static final int START_ATTEMPTS = 5;
  private static final long OLD_PROCESSES_WAIT_MS = 250;

  private final PostgresConfig config;
  private final Path directory;
  private final Binaries binaries;
  private final Cluster cluster;
  private final Postmaster postmaster;
  private final String password;
  private int port;
  private @Nullable DirectoryLock lock;

  private PostgresServer(PostgresConfig config, Path directory, DirectoryLock lock)
      throws IOException {
    this.config = config;
    this.directory = directory;
    this.lock = lock;
    this.binaries = Binaries.unpackedIn(config.binariesDirectory());
    this.cluster = new Cluster(directory, binaries);
    Command command = Command.forThisUser();
    this.postmaster = new Postmaster(command, binaries, cluster);
    boolean dataPresent = cluster.checkData();
    cluster.removeAbandoned();
    if (!dataPresent) {
      cluster.initialise(command, config.durable());
    }
    this.password = cluster.password();
    this.port = config.port();
  }

  /**
   * Starts the server; creates the cluster and the database {@code lockstep} if needed.
   *
   * @throws PostgresException with a first line that people can act on
   */
  public static PostgresServer start(PostgresConfig config) {
    Path directory = ownDirectory(config.directory());
    DirectoryLock lock = lock(directory);
    boolean started = false;
    try {
      PostgresServer server = new PostgresServer(config, directory, lock);
      server.launch();
      started = true;
      return server;
    } catch (IOException e) {
      throw cannotUse(directory, e);
    } finally {
      if (!started) {
        release(lock);
      }
    }
  }

  /**
   * Stops a server whose owner was killed, without starting another.
   *
   * @return whether one was running
   * @throws PostgresException if the folder has a living owner
   */
  public static boolean stopAbandoned(PostgresConfig config) {
    if (!Files.isDirectory(config.directory().resolve("data"))) {
      return false;
    }
    Path directory = ownDirectory(config.directory());
    DirectoryLock lock = lock(directory);
    try {
      Binaries binaries = Binaries.unpackedIn(config.binariesDirectory());
      Cluster cluster = new Cluster(directory, binaries);
      Postmaster postmaster = new Postmaster(Command.forThisUser(), binaries, cluster);
      return postmaster.clear() == Postmaster.Remains.SERVER;
    } catch (IOException e) {
      throw cannotUse(directory, e);
    } finally {
      release(lock);
    }
  }

  /**
   * Stops a server whose owner was killed and deletes its folder.
   *
   * @throws PostgresException if the folder has a living owner
   * @throws UncheckedIOException if something in the folder cannot be deleted
   */
  public static void discardAbandoned(PostgresConfig config) {
    stopAbandoned(config);
    delete(config.directory());
  }

  /** The address of the database {@code lockstep}, without credentials. */
  public String url() {
    return url(DATABASE);
  }

  public String url(String database) {
    return "jdbc:postgresql://" + LOOPBACK + ":" + port() + "/" + database;
  }

  /** A superuser of this server. */
  public String user() {
    return Cluster.USER;
  }

  public String password() {
    return password;
  }

  public synchronized int port() {
    return port;
  }

  public int majorVersion() {
    return binaries.majorVersion();
  }

  /** The data folder, PostgreSQL's {@code PGDATA}. */
  public Path dataDirectory() {
    return cluster.data();
  }

  /**
   * Ends the server like a power cut: no checkpoint, sessions torn. Keeps the folder's lock for
   * {@link #restart}.
   */
  public synchronized void crash() {
    try {
      postmaster.stopImmediately();
    } catch (IOException e) {
      throw cannotUse(directory, e);
    }
  }

  /** Starts again on the same port and data; stops a running server first. */
  public synchronized void restart() {
    if (lock == null) {
      lock = lock(directory);
    }
    try {
      launch();
    } catch (IOException e) {
      throw cannotUse(directory, e);
    }
  }

  /**
   * Stops the server, disconnects its clients and gives up the folder. Does nothing if already
   * stopped.
   */
  public void stop() {
    stop(Postmaster.STOP_TIMEOUT);
  }

  /**
   * Stops within this time: a server that is not done by then, because it hangs or has much to
   * write, is killed. The next start recovers; no committed data is lost.
   */
  public synchronized void stop(Duration within) {
    DirectoryLock held = lock;
    if (held == null) {
      return;
    }
    try {
      postmaster.stop(within);
    } catch (IOException e) {
      throw cannotUse(directory, e);
    } finally {
      lock = null;
      release(held);
    }
  }

  /** Same as {@link #stop()}. */
  @Override
  public void close() {
    stop();
  }

  /** Stops the server and deletes its folder. */
  public void discard() {
    stop();
    delete(directory);
  }

  private static void delete(Path directory) {
    try {
      FileTree.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private synchronized void launch() throws IOException {
    boolean remains = postmaster.clear() != Postmaster.Remains.NONE;
    boolean fixedPort = port != 0;
    for (int attempt = 1; ; attempt++) {
      int candidate = fixedPort ? port : FreePort.find();
      Postmaster.Start outcome = startOn(candidate);
      if (outcome == Postmaster.Start.READY) {
        port = candidate;
        break;
      }
      boolean retry =
          switch (outcome) {
            // Another program may take a free port; leftover processes may still hold a fixed one.
            case PORT_TAKEN -> !fixedPort || remains;
            case OLD_PROCESSES_LEFT -> true;
            default -> false;
          };
      if (!retry || attempt == START_ATTEMPTS) {
        throw outcome == Postmaster.Start.PORT_TAKEN ? portTaken(candidate) : startFailed();
      }
      awaitOldProcesses(attempt);
    }
    createDatabase();
    log.info("PostgreSQL {} listens on {}:{}", majorVersion(), LOOPBACK, port);
  }

  private Postmaster.Start startOn(int candidate) throws IOException {
    if (!FreePort.isFree(candidate)) {
      return Postmaster.Start.PORT_TAKEN;
    }
    cluster.writeSettings(config, candidate);
    return postmaster.start();
  }

  /**
   * Waits for processes of a killed server to exit and free port and memory. They do so within a
   * moment; there is no event to await.
   */
  private static void awaitOldProcesses(int attempt) {
    try {
      TimeUnit.MILLISECONDS.sleep(OLD_PROCESSES_WAIT_MS * attempt);
    } catch (InterruptedException e) {
      // The remaining attempts follow at once; they are few.
      Thread.currentThread().interrupt();
    }
  }

  private void createDatabase() throws IOException {
    Properties login = new Properties();
    login.setProperty("user", user());
    login.setProperty("password", password);
    login.setProperty("connectTimeout", "10");
    login.setProperty("socketTimeout", "60");
    login.setProperty("sslmode", "disable");
    login.setProperty("gssEncMode", "disable");
    try (Connection connection = DriverManager.getConnection(url("postgres"), login);
        Statement statement = connection.createStatement()) {
      if (!databaseExists(statement)) {
        statement.execute("CREATE DATABASE " + DATABASE);
      }
    } catch (SQLException e) {
      postmaster.stop(Postmaster.STOP_TIMEOUT);
      throw new PostgresException(
          "PostgreSQL in " + directory + " refuses its owner: " + e.getMessage(), e);
    }
  }

  private static boolean databaseExists(Statement statement) throws SQLException {
    try (ResultSet row =
        statement.executeQuery("SELECT 1 FROM pg_database WHERE datname = '" + DATABASE + "'")) {
      return row.next();
    }
  }

  private PostgresException startFailed() throws IOException {
    return new PostgresException(
        "PostgreSQL did not start in " + directory + ". " + postmaster.whyItFailed());
  }

  /** Where to read what happened. */
  String logHint() {
    return "Its log is " + cluster.logFile() + ".";
  }

  /** Waits until the server's process is gone; returns at once if there is none. */
  void awaitExit() throws InterruptedException {
    Optional<ProcessHandle> process;
    try {
      process = postmaster.running();
    } catch (IOException e) {
      throw cannotUse(directory, e);
    }
    if (process.isPresent()) {
      awaitExit(process.get());
    }
  }

  private static void awaitExit(ProcessHandle process) throws InterruptedException {
    try {
      process.onExit().get();
      // Where this process may open no more files, the JVM takes every other one for ended.
      while (Postmaster.isThere(process.pid())) {
        TimeUnit.MILLISECONDS.sleep(LOOK_MS);
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Aborts a start under way in another thread; that thread's call fails. */
  void abandonStart() {
    try {
      postmaster.kill();
    } catch (IOException e) {
      throw cannotUse(directory, e);
    }
  }

  private static PostgresException portTaken(int port) {
    return new PostgresException(
        "Port " + port + " is taken by another program. Stop it or choose another database port.");
  }

  private static Path ownDirectory(Path directory) {
    try {
      FileTree.createPrivate(directory);
      // One canonical name per folder, for the lock, the pid file and process arguments.
      return directory.toRealPath();
    } catch (IOException e) {
      throw cannotUse(directory, e);
    }
  }

  private static DirectoryLock lock(Path directory) {
    try {
      return DirectoryLock.acquire(directory);
    } catch (IOException e) {
      throw cannotUse(directory, e);
    }
  }

  private static void release(DirectoryLock lock) {
    try {
      lock.close();
    } catch (IOException e) {
      log.warn("Could not release the lock of the data folder: {}", e.toString());
    }
  }

  private static PostgresException cannotUse(Path directory, IOException e) {
    return new PostgresException(
        "Cannot use the folder "
            + directory
            + " ("
            + e
            + "). Choose another --data folder or change its permissions.",
        e);
  }
}
