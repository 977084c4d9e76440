package dev.lockstep.postgres;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The files of one server. The caller holds the folder's {@link DirectoryLock}. */
final class Cluster {

  static final String USER = "lockstep";

  private static final Logger log = LoggerFactory.getLogger(Cluster.class);
  private static final Duration INITDB_TIMEOUT = Duration.ofMinutes(2);
  private static final String PARTIAL_PREFIX = "data.initdb-";
  private static final String SETTINGS_FILE = "lockstep.conf";
  private static final int PASSWORD_BYTES = 24;
  private static final long LOG_BYTES_MAX = 16 * 1024 * 1024;
  private static final int BUILTIN_LOCALE_SINCE = 17;

  private final Path directory;
  private final Binaries binaries;

  Cluster(Path directory, Binaries binaries) {
    this.directory = directory;
    this.binaries = binaries;
  }

  Path data() {
    return directory.resolve("data");
  }

  Path logFile() {
    return directory.resolve("postgres.log");
  }

  /**
   * Rejects data that these programs must not touch. Changes nothing.
   *
   * @return whether there is any data
   */
  boolean checkData() throws IOException {
    Path data = data();
    if (!Files.exists(data) || (Files.isDirectory(data) && FileTree.isEmpty(data))) {
      return false;
    }
    Path versionFile = data.resolve("PG_VERSION");
    if (!Files.isRegularFile(versionFile)) {
      throw new PostgresException(
          data + " is not a PostgreSQL data folder. Choose another --data folder.");
    }
    String version = Files.readString(versionFile).strip();
    if (!version.equals(Integer.toString(binaries.majorVersion()))) {
      throw new PostgresException(
          "%s was written by PostgreSQL %s and this is PostgreSQL %d. Use the version it was written by, or dump and restore."
              .formatted(data, version, binaries.majorVersion()));
    }
    return true;
  }

  /**
   * Initialises the cluster beside its place and renames it, so that {@code data} is absent or
   * complete.
   */
  void initialise(Command command, boolean durable) throws IOException {
    password(true);
    Path partial = directory.resolve(PARTIAL_PREFIX + System.nanoTime());
    try {
      log.info("Initialising PostgreSQL {} in {}", binaries.majorVersion(), data());
      Command.Result result = command.run(initdb(partial, durable), INITDB_TIMEOUT);
      if (!result.succeeded()) {
        throw new PostgresException(
            "PostgreSQL could not initialise " + directory + ":\n" + result.output());
      }
      Files.writeString(
          partial.resolve("postgresql.conf"),
          "\ninclude = '" + SETTINGS_FILE + "'\n",
          StandardOpenOption.APPEND,
          StandardOpenOption.DSYNC);
      Files.move(partial, data(), StandardCopyOption.ATOMIC_MOVE);
      FileTree.force(directory);
    } finally {
      FileTree.delete(partial);
    }
  }

  private List<String> initdb(Path target, boolean durable) {
    List<String> initdb =
        new ArrayList<>(List.of(binaries.program("initdb"), "--pgdata=" + target));
    initdb.addAll(
        List.of("--username=" + USER, "--pwfile=" + passwordFile(), "--auth=scram-sha-256"));
    initdb.addAll(List.of("--encoding=UTF8", "--locale=C", "--data-checksums"));
    if (binaries.majorVersion() >= BUILTIN_LOCALE_SINCE) {
      // Sorts by code point like C, the same on every machine, and handles upper and lower case
      // beyond ASCII.
      initdb.addAll(List.of("--locale-provider=builtin", "--builtin-locale=C.UTF-8"));
    }
    if (!durable) {
      initdb.add("--no-sync");
    }
    return initdb;
  }

  /**
   * Removes what a start killed during initdb left. An initdb that outlived its starter may still
   * be writing there, so a failure is not an error: a later start tries again.
   */
  void removeAbandoned() throws IOException {
    for (Path partial : FileTree.children(directory, PARTIAL_PREFIX)) {
      try {
        FileTree.delete(partial);
      } catch (IOException e) {
        log.warn("Could not remove {}: {}", partial, e.toString());
      }
    }
  }

  void writeSettings(PostgresConfig config, int port) throws IOException {
    Files.writeString(data().resolve(SETTINGS_FILE), Settings.render(config, port));
  }

  /** Limits the log: the current file and the previous one. */
  void rotateLog() throws IOException {
    if (Files.exists(logFile()) && Files.size(logFile()) > LOG_BYTES_MAX) {
      Files.move(
          logFile(), directory.resolve("postgres.log.1"), StandardCopyOption.REPLACE_EXISTING);
    }
  }

  String password() throws IOException {
    return password(false);
  }

  private String password(boolean create) throws IOException {
    Path file = passwordFile();
    if (!Files.exists(file)) {
      if (!create) {
        throw new PostgresException(
            file + " is missing. It holds the password of the data beside it; restore it.");
      }
      writePassword(file);
    }
    return Files.readString(file).strip();
  }

  private static void writePassword(Path file) throws IOException {
    byte[] random = new byte[PASSWORD_BYTES];
    new SecureRandom().nextBytes(random);
    String password = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    // Rename into place: a killed start must not leave an empty password.
    Path partial = file.resolveSibling("password.new");
    Files.deleteIfExists(partial);
    Files.createFile(
        partial,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.write(
        partial,
        (password + "\n").getBytes(StandardCharsets.US_ASCII),
        Set.of(StandardOpenOption.WRITE, StandardOpenOption.DSYNC)
            .toArray(StandardOpenOption[]::new));
    Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE);
  }

  private Path passwordFile() {
    return directory.resolve("password");
  }
}
