package dev.lockstep.server;

import dev.lockstep.postgres.PostgresConfig;
import dev.lockstep.postgres.PostgresException;
import dev.lockstep.postgres.PostgresServer;
import dev.lockstep.server.edge.EdgeConfig;
import dev.lockstep.server.gateway.Gateway;
import dev.lockstep.server.key.Secret;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
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

  private final String host;
  private final HttpApi http;
  private final Optional<Secret> firstOperatorKey;
  private final Optional<Gateway> gateway;

  private Server(ServerConfig config, EdgeConfig edge, LongSupplier nanoTime) {
    host = config.host();
    http = opened(HttpApi.listen(host, config.port(), edge));
    try {
      DatabaseAddress address = config.externalDatabase().orElseGet(() -> startEmbedded(config));
      Database database = opened(Database.open(address));
      Services services =
          opened(
              Services.open(
                  database,
                  config,
                  edge,
                  http.vertx(),
                  http.inFlight(),
                  URI.create(url()),
                  http.metrics(),
                  nanoTime));
      gateway = services.gateway();
      firstOperatorKey = services.firstOperatorKey();
      http.serve(database, services);
      // Closed first: what is in flight still needs everything above.
      opened.push(http::drain);
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
    return start(config, EdgeConfig.DEFAULT, System::nanoTime);
  }

  /**
   * The same with another edge and another clock for rate limits.
   *
   * @throws CannotStart with one line that says why
   */
  static Server start(ServerConfig config, EdgeConfig edge, LongSupplier nanoTime) {
    return new Server(config, edge, nanoTime);
  }

  /** As someone on this machine reaches it. */
  String url() {
    boolean local =
        Set.of("0.0.0.0", "::", "localhost", ServerConfig.DEFAULT_HOST, "::1").contains(host);
    return "http://" + (local ? "localhost" : host) + ":" + http.port();
  }

  /** A key made at this start, to be shown once; empty when there was one already. */
  Optional<Secret> firstOperatorKey() {
    return firstOperatorKey;
  }

  /** The built-in gateway, unless payments go elsewhere. */
  Optional<Gateway> gateway() {
    return gateway;
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
