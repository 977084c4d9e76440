package dev.lockstep.server;

import dev.lockstep.postgres.PostgresConfig;
import dev.lockstep.postgres.PostgresException;
import dev.lockstep.postgres.PostgresServer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running server: HTTP in front, the database behind. Not thread-safe; one thread starts and
 * closes it.
 *
 * <p>The port is bound first. A taken port is then found out before any data is touched, nobody can
 * take it while the database recovers, and meanwhile {@code /healthz} answers and {@code /readyz}
 * says why not yet.
 */
final class Server implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Server.class);

  /** Newest first, which is the order to close in. */
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  private final HttpApi http;

  private Server(ServerConfig config) {
    http = opened(HttpApi.listen(config.port()));
    try {
      DatabaseAddress address = config.externalDatabase().orElseGet(() -> startEmbedded(config));
      http.serve(opened(Database.open(address)));
    } catch (Throwable e) {
      // An interrupt that ended the start must not end the cleaning up as well.
      boolean interrupted = Thread.interrupted();
      close();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      throw e;
    }
  }

  /**
   * Starts everything, or leaves nothing behind.
   *
   * @throws CannotStart with one line that says why
   */
  static Server start(ServerConfig config) {
    return new Server(config);
  }

  String url() {
    return "http://localhost:" + http.port();
  }

  @Override
  public void close() {
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        log.warn("While stopping: {}", e.toString());
      }
    }
  }

  private DatabaseAddress startEmbedded(ServerConfig config) {
    try {
      return DatabaseAddress.embedded(
          opened(PostgresServer.start(PostgresConfig.durable(config.data()))));
    } catch (PostgresException e) {
      throw new CannotStart(String.valueOf(e.getMessage()), e);
    }
  }

  private <T extends AutoCloseable> T opened(T resource) {
    opened.push(resource);
    return resource;
  }
}
