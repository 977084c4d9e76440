package dev.lockstep.testkit;

import dev.lockstep.postgres.PostgresConfig;
import dev.lockstep.postgres.PostgresException;
import dev.lockstep.postgres.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A server in a temporary directory, with migrated templates. Thread-safe. */
final class TestServer implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(TestServer.class);
  private static final String PREFIX = "lockstep-test-";
  private static final Pattern FOLDER = Pattern.compile(PREFIX + "(\\d+)-.*");
  private static final String TEMPLATE = "lockstep_template";
  private static final Pattern LOCALE = Pattern.compile("[A-Za-z0-9-]+");
  private static final String MIGRATIONS = "classpath:db/lockstep";
  private static final String SCHEMA = "lockstep";

  /**
   * One per JVM, because starting takes longer than most tests. The first class that asks starts
   * it.
   */
  private static final class Shared {
    static final TestServer SERVER = startShared();

    private static TestServer startShared() {
      removeAbandoned();
      TestServer server = TestServer.start(false);
      Runtime.getRuntime()
          .addShutdownHook(new Thread(server::close, "lockstep-test-postgres-stop"));
      return server;
    }
  }

  private final PostgresServer server;
  private final AtomicInteger databases = new AtomicInteger();
  // Guarded by this. One template per collation.
  private final Map<Optional<String>, String> templates = new HashMap<>();

  private TestServer(PostgresServer server) {
    this.server = server;
  }

  static TestServer shared() {
    return Shared.SERVER;
  }

  static TestServer start(boolean durable) {
    try {
      Path directory = Files.createTempDirectory(PREFIX + ProcessHandle.current().pid() + "-");
      PostgresConfig config =
          PostgresConfig.forTests(directory)
              .withDurable(durable)
              .withSetting("shared_buffers", "128MB")
              .withSetting("max_connections", "400");
      return new TestServer(PostgresServer.start(config));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  PostgresServer server() {
    return server;
  }

  /**
   * Creates a database: a copy of the migrated template, or empty.
   *
   * @param icuLocale sorts text by its rules, from PostgreSQL 15 on; empty: by code point
   */
  String createDatabase(boolean migrated, Optional<String> icuLocale) {
    String name = "test_" + databases.incrementAndGet();
    administer(
        "CREATE DATABASE "
            + name
            + (migrated ? " TEMPLATE " + template(icuLocale) : sortingBy(icuLocale)));
    return name;
  }

  void dropDatabase(String name) {
    administer("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
  }

  private static String sortingBy(Optional<String> icuLocale) {
    if (icuLocale.isEmpty()) {
      return "";
    }
    if (!LOCALE.matcher(icuLocale.get()).matches()) {
      throw new IllegalArgumentException("Not an ICU locale: " + icuLocale.get());
    }
    return " TEMPLATE template0 LOCALE_PROVIDER icu LOCALE 'C' ICU_LOCALE '"
        + icuLocale.get()
        + "'";
  }

  private synchronized String template(Optional<String> icuLocale) {
    String known = templates.get(icuLocale);
    if (known != null) {
      return known;
    }
    String template = TEMPLATE + "_" + templates.size();
    // A failed first attempt must not leave half a template behind.
    dropDatabase(template);
    administer("CREATE DATABASE " + template + sortingBy(icuLocale));
    migrate(server, template);
    templates.put(icuLocale, template);
    return template;
  }

  /** Runs core's migrations, if they are on the class path. */
  static void migrate(PostgresServer server, String database) {
    Flyway flyway =
        Flyway.configure()
            .dataSource(server.url(database), server.user(), server.password())
            .locations(MIGRATIONS)
            .failOnMissingLocations(false)
            .defaultSchema(SCHEMA)
            .createSchemas(true)
            .load();
    if (flyway.info().all().length > 0) {
      flyway.migrate();
    }
  }

  private void administer(String sql) {
    try (Connection connection =
            DriverManager.getConnection(server.url("postgres"), server.user(), server.password());
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** Stops the server and deletes its data. */
  @Override
  public void close() {
    try {
      server.discard();
    } catch (UncheckedIOException e) {
      log.warn("Could not delete {}: {}", server.dataDirectory(), e.toString());
    }
  }

  /** Cleans up after killed test JVMs, which leave a running server and a directory behind. */
  private static void removeAbandoned() {
    Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
    List<Path> folders;
    try (Stream<Path> list = Files.list(temporary)) {
      folders = list.filter(TestServer::isAbandoned).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (Path folder : folders) {
      try {
        PostgresServer.discardAbandoned(PostgresConfig.forTests(folder));
      } catch (PostgresException | UncheckedIOException e) {
        // Another test run may be cleaning it up right now, or it belongs to another user.
        log.info("Could not clean up {}; leaving it: {}", folder, e.getMessage());
      }
    }
  }

  private static boolean isAbandoned(Path folder) {
    Matcher name = FOLDER.matcher(folder.getFileName().toString());
    return name.matches() && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty();
  }
}
