package dev.lockstep.lab;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Properties;

/**
 * A PostgreSQL server and its driver properties, to connect both as its administrator and as the
 * lab's role.
 */
final class ServerAddress {
  private static final String DATABASE = "PGDBNAME";
  private static final String HOST = "PGHOST";
  private static final String PORT = "PGPORT";

  /** All properties, parsed by the driver itself. */
  private final Properties given;

  ServerAddress(LabConfig config) throws SQLException {
    Properties beside = new Properties();
    config.properties().forEach(beside::setProperty);
    given = new Properties();
    for (DriverPropertyInfo info :
        DriverManager.getDriver(config.url()).getPropertyInfo(config.url(), beside)) {
      if (info.value != null) {
        given.setProperty(info.name, info.value);
      }
    }
  }

  /** Connects as the configured user, to the configured database. */
  Connection asAdministrator() throws SQLException {
    return connect(given.getProperty(DATABASE, "postgres"), new Properties());
  }

  Connection asAdministratorOf(String database) throws SQLException {
    return connect(database, new Properties());
  }

  Connection as(String user, String password, String database, String applicationName)
      throws SQLException {
    Properties own = new Properties();
    own.setProperty("user", user);
    own.setProperty("password", password);
    own.setProperty("ApplicationName", applicationName);
    // As psql does. In the extended protocol a finished query's portal stays until the next query,
    // and with it a snapshot that VACUUM must respect.
    own.setProperty("preferQueryMode", "simple");
    return connect(database, own);
  }

  private Connection connect(String database, Properties own) throws SQLException {
    Properties all = new Properties();
    given.stringPropertyNames().forEach(name -> all.setProperty(name, given.getProperty(name)));
    own.stringPropertyNames().forEach(name -> all.setProperty(name, own.getProperty(name)));
    all.remove(DATABASE);
    all.remove(HOST);
    all.remove(PORT);
    return DriverManager.getConnection("jdbc:postgresql://" + hosts() + "/" + database, all);
  }

  /** One host, or several separated by commas. */
  private String hosts() {
    String[] hosts = given.getProperty(HOST, "localhost").split(",", -1);
    String[] ports = given.getProperty(PORT, "5432").split(",", -1);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < hosts.length; i++) {
      String port = i < ports.length ? ports[i] : ports[0];
      text.append(i == 0 ? "" : ",").append(hosts[i]).append(':').append(port);
    }
    return text.toString();
  }
}
