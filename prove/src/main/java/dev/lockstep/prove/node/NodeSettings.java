package dev.lockstep.prove.node;

import dev.lockstep.prove.history.Fields;
import java.time.Duration;

/**
 * How a node runs.
 *
 * @param name for people
 * @param port where the database is, as far as this node knows: a proxy
 * @param lease of workers and relays
 */
public record NodeSettings(
    String name, int port, String database, String user, String password, Duration lease) {
  public static final int POOL_SIZE = 16;

  /** The command-line argument that {@link #parse} reads. */
  public String argument() {
    return Fields.of(
            "name", name,
            "port", port,
            "database", database,
            "user", user,
            "password", password,
            "lease", lease.toMillis())
        .line();
  }

  static NodeSettings parse(String[] arguments) {
    Fields fields = Fields.parse(arguments[0]);
    return new NodeSettings(
        fields.text("name"),
        (int) fields.number("port"),
        fields.text("database"),
        fields.text("user"),
        fields.text("password"),
        Duration.ofMillis(fields.number("lease")));
  }
}
