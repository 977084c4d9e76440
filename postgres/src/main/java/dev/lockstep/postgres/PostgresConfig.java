package dev.lockstep.postgres;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Configures one server.
 *
 * @param directory holds the cluster, its password, its log and its lock; created if absent
 * @param binariesDirectory where the PostgreSQL programs are unpacked, once per version; may be
 *     shared
 * @param port the TCP port on the loopback address; 0 picks a free one
 * @param durable true: an acknowledged commit survives a power cut; false: faster, for disposable
 *     data
 * @param settings PostgreSQL settings by name; they override those chosen here
 */
public record PostgresConfig(
    Path directory,
    Path binariesDirectory,
    int port,
    boolean durable,
    Map<String, String> settings) {

  private static final Pattern SETTING_NAME =
      Pattern.compile("[a-z_][a-z0-9_]*(\\.[a-z_][a-z0-9_]*)?");
  private static final int PORT_MAX = 65_535;

  public PostgresConfig {
    if (port < 0 || port > PORT_MAX) {
      throw new IllegalArgumentException("port must be 0 to " + PORT_MAX + ", not " + port);
    }
    directory = directory.toAbsolutePath().normalize();
    binariesDirectory = binariesDirectory.toAbsolutePath().normalize();
    settings = Map.copyOf(settings);
    settings.forEach(PostgresConfig::checkSetting);
  }

  /**
   * For data that matters: survives crashes, with programs unpacked beside the data and a free
   * port.
   */
  public static PostgresConfig durable(Path directory) {
    return new PostgresConfig(directory, directory.resolve("binaries"), 0, true, Map.of());
  }

  /**
   * For disposable data: no fsync, programs unpacked once per user below the temporary folder, a
   * free port.
   */
  public static PostgresConfig forTests(Path directory) {
    Path shared =
        Path.of(
            System.getProperty("java.io.tmpdir"),
            "lockstep-postgres-" + System.getProperty("user.name"));
    return new PostgresConfig(directory, shared, 0, false, Map.of());
  }

  public PostgresConfig withBinariesDirectory(Path binaries) {
    return new PostgresConfig(directory, binaries, port, durable, settings);
  }

  public PostgresConfig withPort(int fixedPort) {
    return new PostgresConfig(directory, binariesDirectory, fixedPort, durable, settings);
  }

  public PostgresConfig withDurable(boolean nowDurable) {
    return new PostgresConfig(directory, binariesDirectory, port, nowDurable, settings);
  }

  /** Adds one PostgreSQL setting, or replaces it. */
  public PostgresConfig withSetting(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(settings);
    more.put(name, value);
    return new PostgresConfig(directory, binariesDirectory, port, durable, more);
  }

  private static void checkSetting(String name, String value) {
    if (!SETTING_NAME.matcher(name).matches()) {
      throw new IllegalArgumentException("Not the name of a PostgreSQL setting: " + name);
    }
    if (name.equals("port")) {
      throw new IllegalArgumentException("The port is not a setting; choose it with withPort");
    }
    // A line break would inject a second setting into the file.
    if (value.chars().anyMatch(c -> c < ' ')) {
      throw new IllegalArgumentException(
          "The value of " + name + " contains a control character; remove it");
    }
  }
}
