package dev.lockstep.server.database;

import dev.lockstep.postgres.PostgresServer;
import dev.lockstep.server.lifecycle.WrongUse;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * The database's address and our credentials. Show only {@link #place()}: a URL can carry a
 * password.
 *
 * @param url the JDBC URL, possibly with credentials
 * @param user null if the URL, or the driver's password file, has it
 * @param password likewise
 * @param place host, port and database, fit for messages and pages
 * @param embedded whether we run it ourselves
 */
public record DatabaseAddress(
    String url, @Nullable String user, @Nullable String password, String place, boolean embedded) {
  private static final String SCHEME = "jdbc:postgresql:";
  private static final String EXAMPLE = "jdbc:postgresql://localhost:5432/shop?user=me&password=…";
  private static final String CONNECT_TIMEOUT_SECONDS = "10";

  public static DatabaseAddress embedded(PostgresServer server) {
    return new DatabaseAddress(
        server.url(), server.user(), server.password(), "localhost:" + server.port(), true);
  }

  /** Parses the URL from this flag; messages never repeat the value. */
  public static DatabaseAddress external(String flag, String url) {
    try {
      return external(url);
    } catch (IllegalArgumentException e) {
      throw new WrongUse(flag + " " + e.getMessage());
    }
  }

  /**
   * Parses a user's URL.
   *
   * @throws IllegalArgumentException with a message that follows the URL's name and never repeats
   *     the value
   */
  public static DatabaseAddress external(String url) {
    if (!url.startsWith(SCHEME)) {
      throw new IllegalArgumentException(
          "must start with " + SCHEME + "//, for example " + EXAMPLE);
    }
    String place = place(url);
    if (place.contains("@")) {
      throw new IllegalArgumentException(
          "has credentials before the host; give them after it, as in " + EXAMPLE);
    }
    try {
      DriverManager.getDriver(url);
    } catch (SQLException e) {
      throw new IllegalArgumentException(
          "is not a URL the PostgreSQL driver understands; an example is " + EXAMPLE);
    }
    return new DatabaseAddress(url, null, null, place, false);
  }

  /** Driver properties in addition to the URL, which takes precedence. */
  public Properties properties() {
    Properties properties = new Properties();
    properties.setProperty("ApplicationName", "lockstep");
    properties.setProperty("connectTimeout", CONNECT_TIMEOUT_SECONDS);
    properties.setProperty("tcpKeepAlive", "true");
    if (user != null && password != null) {
      properties.setProperty("user", user);
      properties.setProperty("password", password);
    }
    return properties;
  }

  @Override
  public String toString() {
    return place;
  }

  /** Host, port and database, without parameters. */
  private static String place(String url) {
    String rest = url.substring(SCHEME.length());
    int parameters = rest.indexOf('?');
    String address = parameters < 0 ? rest : rest.substring(0, parameters);
    return address.startsWith("//") ? address.substring(2) : address;
  }
}
