package dev.lockstep.server;

import dev.lockstep.server.key.Secret;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What {@code up} was asked for.
 *
 * @param host the interface to listen on; the loopback one unless told
 * @param port where to listen, 0 for any free port; 8080 unless told
 * @param data the embedded database's folder; {@code ~/.lockstep} unless told
 * @param externalDatabase the user's own PostgreSQL; empty means the embedded one
 * @param operatorKey opens every door; empty: one is made at the first start
 * @param samples whether a new database gets campaigns to play with
 * @param visitors whether the shop sells to people without a key; unless told, only where the
 *     database is the embedded one
 * @param payments who is paid through
 * @param deliveries how webhooks are delivered to
 * @param kafka where brokers are reached, host:port with commas between; empty: streams have no
 *     sinks in Kafka
 * @param listen whether a connection of its own waits for notifications of new jobs; not behind a
 *     pooler in transaction mode
 * @param lab whether the concurrency lab may make a database to play in; unless told, only where
 *     the database is the embedded one
 */
record ServerConfig(
    String host,
    int port,
    Path data,
    Optional<DatabaseAddress> externalDatabase,
    Optional<Secret> operatorKey,
    boolean samples,
    boolean visitors,
    PaymentSettings payments,
    DeliverySettings deliveries,
    Optional<String> kafka,
    boolean listen,
    boolean lab) {
  static final String DEFAULT_HOST = "127.0.0.1";
  private static final int MIN_PUBLIC_KEY_LENGTH = 16;
  private static final int DEFAULT_PORT = 8080;
  private static final int MAX_PORT = 65_535;

  ServerConfig {
    if (port < 0 || port > MAX_PORT) {
      throw new IllegalArgumentException("port " + port);
    }
  }

  /** From flags and, where a flag is absent, the environment. An empty variable counts as unset. */
  static ServerConfig of(
      @Nullable String host,
      @Nullable String port,
      @Nullable String data,
      @Nullable String databaseUrl,
      Map<String, String> environment) {
    // No flag for the key: other users of the machine can read a process's arguments.
    Optional<Secret> operatorKey =
        Setting.of("", null, "LOCKSTEP_OPERATOR_KEY", environment).map(ServerConfig::parseKey);
    Optional<DatabaseAddress> externalDatabase =
        Setting.of("--database-url", databaseUrl, "LOCKSTEP_DATABASE_URL", environment)
            .map(setting -> DatabaseAddress.external(setting.source(), setting.value()));
    return new ServerConfig(
        Setting.of("--host", host, "LOCKSTEP_HOST", environment)
            .map(setting -> parseHost(setting, operatorKey))
            .orElse(DEFAULT_HOST),
        Setting.of("--port", port, "LOCKSTEP_PORT", environment)
            .map(ServerConfig::parsePort)
            .orElse(DEFAULT_PORT),
        Setting.of("--data", data, "LOCKSTEP_DATA", environment)
            .map(ServerConfig::parsePath)
            .orElseGet(() -> defaultData(environment)),
        externalDatabase,
        operatorKey,
        Setting.of("", null, "LOCKSTEP_SAMPLES", environment)
            .map(ServerConfig::parseBoolean)
            .orElse(true),
        Setting.of("", null, "LOCKSTEP_VISITORS", environment)
            .map(ServerConfig::parseBoolean)
            .orElse(externalDatabase.isEmpty()),
        PaymentSettings.of(environment),
        DeliverySettings.of(environment),
        Setting.of("", null, "LOCKSTEP_KAFKA_BOOTSTRAP", environment)
            .map(ServerConfig::parseBrokers),
        Setting.of("", null, "LOCKSTEP_LISTEN", environment)
            .map(ServerConfig::parseBoolean)
            .orElse(true),
        Setting.of("", null, "LOCKSTEP_LAB", environment)
            .map(ServerConfig::parseBoolean)
            .orElse(externalDatabase.isEmpty()));
  }

  /** Reachable from other machines it needs a key that its operator has chosen, and a good one. */
  private static String parseHost(Setting setting, Optional<Secret> operatorKey) {
    boolean loopback;
    try {
      loopback = InetAddress.getByName(setting.value()).isLoopbackAddress();
    } catch (UnknownHostException e) {
      throw new WrongUse(
          setting.source() + " is no address of this machine: '" + setting.value() + "'");
    }
    boolean safe =
        operatorKey.filter(key -> key.reveal().length() >= MIN_PUBLIC_KEY_LENGTH).isPresent();
    if (!loopback && !safe) {
      throw new WrongUse(
          setting.source()
              + " "
              + setting.value()
              + " can be reached from other machines; set LOCKSTEP_OPERATOR_KEY, "
              + MIN_PUBLIC_KEY_LENGTH
              + " characters or more, first");
    }
    return setting.value();
  }

  private static Secret parseKey(Setting setting) {
    if (!setting.value().matches("[\\x21-\\x7e]{1,512}")) {
      throw new WrongUse(
          setting.source() + " must be 1 to 512 printable ASCII characters without spaces");
    }
    return Secret.of(setting.value());
  }

  private static String parseBrokers(Setting setting) {
    if (!setting.value().matches("[^\\s,:]+:\\d{1,5}(,[^\\s,:]+:\\d{1,5})*")) {
      throw new WrongUse(setting.source() + " must be host:port, several with commas between");
    }
    return setting.value();
  }

  private static boolean parseBoolean(Setting setting) {
    return switch (setting.value()) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new WrongUse(setting.source() + " must be true or false");
    };
  }

  private static int parsePort(Setting setting) {
    try {
      int port = Integer.parseInt(setting.value());
      if (port >= 0 && port <= MAX_PORT) {
        return port;
      }
    } catch (NumberFormatException e) {
      // answered below, like a number out of range
    }
    throw new WrongUse(
        setting.source()
            + " must be a number from 0 to "
            + MAX_PORT
            + ", not '"
            + setting.value()
            + "'");
  }

  private static Path parsePath(Setting setting) {
    try {
      return Path.of(setting.value()).toAbsolutePath().normalize();
    } catch (InvalidPathException e) {
      throw new WrongUse(setting.source() + " is not a folder name: '" + setting.value() + "'");
    }
  }

  /**
   * As a shell understands {@code ~}; the JVM looks elsewhere, and says "?" for a user it does not
   * know.
   */
  private static Path defaultData(Map<String, String> environment) {
    String known = System.getProperty("user.home", "?");
    String home = environment.getOrDefault("HOME", known.equals("?") ? "" : known);
    if (home.isEmpty()) {
      throw new WrongUse("this user has no home folder; say where to keep data with --data");
    }
    return Path.of(home, ".lockstep");
  }

  /** A value and the name it was given under, so that a complaint names what the user wrote. */
  private record Setting(String source, String value) {
    static Optional<Setting> of(
        String flag, @Nullable String value, String variable, Map<String, String> environment) {
      if (value != null && value.isBlank()) {
        // An empty folder name would mean the current folder: hardly what an unset shell variable
        // meant.
        throw new WrongUse(flag + " needs a value");
      }
      if (value != null) {
        return Optional.of(new Setting(flag, value));
      }
      String fromEnvironment = environment.get(variable);
      return fromEnvironment == null || fromEnvironment.isEmpty()
          ? Optional.empty()
          : Optional.of(new Setting(variable, fromEnvironment));
    }
  }
}
