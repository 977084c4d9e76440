package dev.lockstep.server.database;

import dev.lockstep.postgres.PostgresServer;
import dev.lockstep.server.lifecycle.WrongUse;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Where the database is and who we are there. Only {@link #place()} may be shown: a URL can carry a
 * password.
 *
 * @param url the JDBC URL, possibly with credentials
 * @param user null when the URL, or the driver's password file, says
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

  /** Reads the URL that a flag of this name was given; the value is never repeated. */
  public static DatabaseAddress external(String flag, String url) {
    try {
      return external(url);
    } catch (IllegalArgumentException e) {
      throw new WrongUse(flag + " " + e.getMessage());
    }
  }

  /**
   * Reads a user's URL.
   *
   * @throws IllegalArgumentException with what is wrong with it, to follow its name; the value is
   *     never repeated
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

  /** What the driver is told beside the URL, which wins where both speak. */
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

  /** Everything from the host on, without the parameters. */
  private static String place(String url) {
    String rest = url.substring(SCHEME.length());
    int parameters = rest.indexOf('?');
    String address = parameters < 0 ? rest : rest.substring(0, parameters);
    return address.startsWith("//") ? address.substring(2) : address;
  }
}
