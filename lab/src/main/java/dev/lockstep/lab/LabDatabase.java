package dev.lockstep.lab;

import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lab's own database and its only role, both named {@code lockstep_lab_<random>} and dropped on
 * {@link #close}. The next lab on the same server removes what a killed process left. A live lab is
 * always connected to its database, so it is not removed.
 */
final class LabDatabase implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LabDatabase.class);

  /** The role's limit: the sessions of a run, the observer, and spare ones. */
  private static final int MAX_CONNECTIONS = 6;

  private static final String NAMES = "^lockstep_lab_[0-9a-f]{12}$";

  /** Makes a second lab wait while one is being created; otherwise it would look abandoned. */
  private static final String LOCK = "SELECT pg_advisory_lock(5499206914273538387)";

  /** The lab's databases without connections, and its roles without a database. */
  private static final String FIND_ABANDONED =
      """
      SELECT d.datname, true FROM pg_database d
      WHERE d.datname ~ ? AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.datname = d.datname)
      UNION ALL
      SELECT r.rolname, false FROM pg_roles r
      WHERE r.rolname ~ ? AND NOT EXISTS (SELECT 1 FROM pg_database d WHERE d.datname = r.rolname)
      """;

  /**
   * Only a superuser may set deadlock_timeout. This function lets the lab's role set it for its own
   * session, within bounds.
   */
  private static final String SETTER =
      """
      CREATE FUNCTION lab.deadlock_timeout(milliseconds int) RETURNS text
      LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog
      AS $$SELECT set_config('deadlock_timeout', greatest(10, least($1, 5000)) || 'ms', false)$$
      """;

  private static final String NO_SETTER =
      """
      CREATE FUNCTION lab.deadlock_timeout(milliseconds int) RETURNS text
      LANGUAGE sql AS $$SELECT current_setting('deadlock_timeout')$$
      """;

  private final ServerAddress server;
  private final String name;
  private final String password;

  private LabDatabase(ServerAddress server, String name, String password) {
    this.server = server;
    this.name = name;
    this.password = password;
  }

  /** A new database and its first connection, which marks it as in use. */
  record Opened(LabDatabase database, Connection keeper) {}

  /**
   * Creates role and database.
   *
   * @throws LabUnavailable if the user lacks the rights or the server cannot be reached
   */
  static Opened create(LabConfig config) {
    SecureRandom random = new SecureRandom();
    String name = "lockstep_lab_" + hex(random, 6);
    String password = hex(random, 24);
    try {
      ServerAddress server = new ServerAddress(config);
      LabDatabase database = new LabDatabase(server, name, password);
      try (Connection connection = server.asAdministrator()) {
        return database.create(connection, ScramVerifier.of(password, random));
      }
    } catch (SQLException e) {
      throw new LabUnavailable(
          "the lab needs a user that may create roles and databases, and a direct connection: "
              + LabSession.failed(e).message(),
          e);
    }
  }

  private Opened create(Connection connection, String verifier) throws SQLException {
    query(connection, LOCK);
    removeAbandoned(connection);
    try {
      boolean superuser = isSuperuser(connection);
      createRole(connection, verifier, superuser);
      createDatabase(connection, superuser);
      return new Opened(this, connect("lockstep-lab"));
    } catch (SQLException e) {
      drop(connection);
      throw e;
    }
  }

  /** Connects as the lab's role. */
  Connection connect(String applicationName) throws SQLException {
    return server.as(name, password, name, applicationName);
  }

  @Override
  public void close() {
    try (Connection connection = server.asAdministrator()) {
      drop(connection);
    } catch (SQLException e) {
      log.warn("Could not drop the lab's database {}; the next lab removes it: {}", name, e);
    }
  }

  private void createRole(Connection connection, String verifier, boolean superuser)
      throws SQLException {
    execute(
        connection,
        "CREATE ROLE %s LOGIN CONNECTION LIMIT %d PASSWORD '%s'"
            .formatted(name, MAX_CONNECTIONS, verifier));
    List<String> settings =
        new ArrayList<>(
            List.of(
                "search_path = run",
                "statement_timeout = '10s'",
                "lock_timeout = '10s'",
                "idle_in_transaction_session_timeout = '15s'",
                // Nothing here must survive a power cut.
                "synchronous_commit = off",
                "default_transaction_isolation = 'read committed'"));
    if (superuser) {
      settings.add("deadlock_timeout = '100ms'");
    }
    for (String setting : settings) {
      execute(connection, "ALTER ROLE " + name + " SET " + setting);
    }
  }

  private void createDatabase(Connection connection, boolean superuser) throws SQLException {
    execute(connection, "CREATE DATABASE " + name + " TEMPLATE template0");
    execute(connection, "REVOKE ALL ON DATABASE " + name + " FROM PUBLIC");
    execute(connection, "GRANT CONNECT, CREATE ON DATABASE " + name + " TO " + name);
    try (Connection made = server.asAdministratorOf(name)) {
      execute(made, "REVOKE ALL ON SCHEMA public FROM PUBLIC");
      execute(made, "CREATE SCHEMA lab");
      execute(made, superuser ? SETTER : NO_SETTER);
      execute(made, "GRANT USAGE ON SCHEMA lab TO " + name);
    }
  }

  private void drop(Connection connection) throws SQLException {
    execute(connection, "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
    execute(connection, "DROP ROLE IF EXISTS " + name);
  }

  private static void removeAbandoned(Connection connection) throws SQLException {
    List<String> statements = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(FIND_ABANDONED)) {
      statement.setString(1, NAMES);
      statement.setString(2, NAMES);
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          if (row.getBoolean(2)) {
            statements.add("DROP DATABASE IF EXISTS " + row.getString(1));
          }
          statements.add("DROP ROLE IF EXISTS " + row.getString(1));
        }
      }
    }
    for (String statement : statements) {
      try {
        execute(connection, statement);
      } catch (SQLException e) {
        // Owned by another user, or still in use.
        log.info("Could not run {}; leaving it: {}", statement, e.getMessage());
      }
    }
  }

  private static boolean isSuperuser(Connection connection) throws SQLException {
    return query(connection, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        .equals("t");
  }

  private static String hex(SecureRandom random, int bytes) {
    byte[] content = new byte[bytes];
    random.nextBytes(content);
    return HexFormat.of().formatHex(content);
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return String.valueOf(row.getString(1));
    }
  }
}
