package dev.lockstep.testkit;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.postgres.PostgresServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A PostgreSQL database per test class.
 *
 * <pre>{@code
 * @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
 * }</pre>
 *
 * <p>The databases of a JVM share one server, started by the first class that needs it, with {@code
 * fsync} off. A migrated database is a copy of a template, so migrations run once. The database
 * exists before the first test of the class. After the last test the pool is closed and the
 * database dropped, even if clients are still connected. All tests of a class share it, nested
 * classes included.
 *
 * <p>The system property {@code lockstep.test.collation} makes every database sort text by that ICU
 * locale, as {@link #withIcuLocale} does for one.
 *
 * <p>Thread-safe once the class has begun.
 */
public final class TestDatabase implements BeforeAllCallback, AfterAllCallback {

  private static final int POOL_SIZE_DEFAULT = 20;
  private static final Duration CONNECTION_TIMEOUT = Duration.ofSeconds(30);

  /** The default ICU locale of all databases. */
  private static final String COLLATION = "lockstep.test.collation";

  private static final String UNTESTED_WINDOW = "com.zaxxer.hikari.aliveBypassWindowMs";

  /** The server that holds the database. */
  private enum Home {
    SHARED,
    OWN,
    OWN_DURABLE
  }

  private record Running(TestServer server, String name, HikariDataSource pool) {}

  private final Home home;
  private final boolean migrated;
  private final int poolSize;
  private final Optional<String> icuLocale;
  private volatile @Nullable Running running;
  private int depth;

  private TestDatabase(Home home, boolean migrated, int poolSize, Optional<String> icuLocale) {
    this.home = home;
    this.migrated = migrated;
    this.poolSize = poolSize;
    this.icuLocale = icuLocale;
  }

  private static TestDatabase on(Home home, boolean migrated) {
    return new TestDatabase(
        home,
        migrated,
        POOL_SIZE_DEFAULT,
        Optional.ofNullable(System.getProperty(COLLATION)).filter(locale -> !locale.isEmpty()));
  }

  /**
   * A database with the migrations at {@code db/lockstep} on the class path; empty if there are
   * none.
   */
  public static TestDatabase migrated() {
    return on(Home.SHARED, true);
  }

  /** A database with nothing in it. */
  public static TestDatabase empty() {
    return on(Home.SHARED, false);
  }

  /**
   * A migrated database on its own server, for tests that crash it with {@link
   * PostgresServer#crash()}.
   *
   * @param durable true if acknowledged commits must survive a crash. Otherwise {@code
   *     synchronous_commit} is off, and even a crash of the server alone may lose some
   */
  public static TestDatabase ownServer(boolean durable) {
    return on(durable ? Home.OWN_DURABLE : Home.OWN, true);
  }

  /** With at most this many pooled connections, opened as needed. */
  public TestDatabase withPoolSize(int connections) {
    return new TestDatabase(home, migrated, connections, icuLocale);
  }

  /**
   * With text sorted by a language's rules, as in many production databases: {@code en-US} sorts
   * "a" before "B". Needs PostgreSQL 15.
   */
  public TestDatabase withIcuLocale(String locale) {
    return new TestDatabase(home, migrated, poolSize, Optional.of(locale));
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    open();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    end();
  }

  synchronized void open() {
    if (depth++ > 0) {
      return;
    }
    TestServer server =
        home == Home.SHARED ? TestServer.shared() : TestServer.start(home == Home.OWN_DURABLE);
    String name = server.createDatabase(migrated, icuLocale);
    running = new Running(server, name, pool(server.server(), name));
  }

  synchronized void end() {
    Running ending = running;
    if (--depth > 0 || ending == null) {
      return;
    }
    running = null;
    ending.pool().close();
    if (home == Home.SHARED) {
      ending.server().dropDatabase(ending.name());
    } else {
      ending.server().close();
    }
  }

  /** The pool. Connections broken by a crash are replaced at the next request. */
  public DataSource dataSource() {
    return running().pool();
  }

  /** A pooled connection in autocommit mode; the caller closes it. */
  public Connection connection() throws SQLException {
    return running().pool().getConnection();
  }

  /** The address of this database, without credentials. */
  public String url() {
    return running().server().server().url(running().name());
  }

  public String user() {
    return server().user();
  }

  public String password() {
    return server().password();
  }

  public String name() {
    return running().name();
  }

  /** The server; shared with other test classes unless it came from {@link #ownServer}. */
  public PostgresServer server() {
    return running().server().server();
  }

  /** Runs one or more statements and commits. */
  public void execute(String sql) {
    try (Connection connection = connection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** Runs a script on the class path, such as a single migration, and commits. */
  public void runScript(String resource) {
    try (InputStream script =
        Objects.requireNonNull(TestDatabase.class.getResourceAsStream(resource), resource)) {
      execute(new String(script.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(resource, e);
    }
  }

  /** The first column of the query's only row. */
  public long queryLong(String sql, Object... args) {
    List<Long> rows = query(sql, row -> row.getLong(1), args);
    if (rows.size() != 1) {
      throw new IllegalStateException(rows.size() + " rows, not 1: " + sql);
    }
    return rows.get(0);
  }

  /** All rows of the query, in order. */
  public <T> List<T> query(String sql, RowMapper<T> mapper, Object... args) {
    try (Connection connection = connection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < args.length; i++) {
        statement.setObject(i + 1, args[i]);
      }
      try (ResultSet row = statement.executeQuery()) {
        List<T> result = new ArrayList<>();
        while (row.next()) {
          result.add(mapper.map(row));
        }
        return result;
      }
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  private Running running() {
    Running now = running;
    if (now == null) {
      throw new IllegalStateException(
          "The test database exists only from beforeAll to afterAll; make its field static with @RegisterExtension");
    }
    return now;
  }

  private HikariDataSource pool(PostgresServer server, String name) {
    HikariConfig config = new HikariConfig();
    config.setPoolName(name);
    config.setJdbcUrl(server.url(name));
    config.setUsername(server.user());
    config.setPassword(server.password());
    config.setMaximumPoolSize(poolSize);
    config.setMinimumIdle(0);
    config.setConnectionTimeout(CONNECTION_TIMEOUT.toMillis());
    return alwaysTested(config);
  }

  /**
   * Hikari hands out a connection untested if it was used within the last half second; a server can
   * crash and restart faster. The window is a system property read when a pool is built; other
   * pools of this JVM keep theirs.
   */
  private static synchronized HikariDataSource alwaysTested(HikariConfig config) {
    String before = System.setProperty(UNTESTED_WINDOW, "0");
    try {
      return new HikariDataSource(config);
    } finally {
      if (before == null) {
        System.clearProperty(UNTESTED_WINDOW);
      } else {
        System.setProperty(UNTESTED_WINDOW, before);
      }
    }
  }
}
