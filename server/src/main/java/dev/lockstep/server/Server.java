package dev.lockstep.server;

import dev.lockstep.postgres.PostgresConfig;
import dev.lockstep.postgres.PostgresException;
import dev.lockstep.postgres.PostgresKeeper;
import dev.lockstep.postgres.PostgresServer;
import dev.lockstep.server.api.Trouble;
import dev.lockstep.server.gateway.Gateway;
import dev.lockstep.server.key.Secret;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
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

  /** For each of the six parts; in all well below ten seconds. */
  private static final long CLOSE_WITHOUT_DATABASE_MS = 1_500;

  /** Newest first, which is the order to close in. */
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  private final String host;
  private final HttpApi http;
  private @Nullable Database database;
  private final Optional<Secret> firstOperatorKey;
  private final Optional<Gateway> gateway;

  private Server(
      ServerConfig config, LongSupplier nanoTime, Consumer<RuntimeException> cannotGoOn) {
    host = config.host();
    http = opened(HttpApi.listen(host, config.port(), config.edge()));
    try {
      DatabaseAddress address =
          config.externalDatabase().orElseGet(() -> startEmbedded(config, cannotGoOn));
      Database open = opened(Database.open(address, config.database()));
      database = open;
      Services services =
          opened(
              Services.open(
                  open,
                  config,
                  http.vertx(),
                  http.inFlight(),
                  URI.create(url()),
                  http.metrics(),
                  nanoTime));
      gateway = services.gateway();
      firstOperatorKey = services.firstOperatorKey();
      http.serve(open, services);
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
   * @param cannotGoOn told once, on another thread, when the embedded database is gone for good
   * @throws CannotStart which says why
   */
  static Server start(ServerConfig config, Consumer<RuntimeException> cannotGoOn) {
    return new Server(config, System::nanoTime, cannotGoOn);
  }

  /**
   * The same with another clock for rate limits.
   *
   * @throws CannotStart with one line that says why
   */
  static Server start(ServerConfig config, LongSupplier nanoTime) {
    return new Server(config, nanoTime, e -> log.error("The database is gone for good", e));
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
    Database open = database;
    boolean gone =
        open != null && open.finding().trouble().filter(Trouble.GONE::equals).isPresent();
    if (gone) {
      log.warn("The database is gone, so nothing can be handed over; stopping without it");
    }
    while (!opened.isEmpty()) {
      AutoCloseable next = opened.pop();
      if (gone) {
        closeOrLeave(next);
      } else {
        close(next);
      }
    }
  }

  /** Orderly ends wait for the database; without one they would wait in vain. */
  private static void closeOrLeave(AutoCloseable resource) {
    Thread closing = new Thread(() -> close(resource), "lockstep-close");
    closing.setDaemon(true);
    closing.start();
    try {
      closing.join(CLOSE_WITHOUT_DATABASE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void close(AutoCloseable resource) {
    try {
      resource.close();
    } catch (Exception e) {
      log.warn("While stopping: {}", e.toString());
    }
  }

  private DatabaseAddress startEmbedded(
      ServerConfig config, Consumer<RuntimeException> cannotGoOn) {
    try {
      PostgresServer postgres = opened(PostgresServer.start(PostgresConfig.durable(config.data())));
      opened(
          PostgresKeeper.over(
              postgres,
              PostgresKeeper.Patience.DEFAULT,
              e -> cannotGoOn.accept(new CannotStart(String.valueOf(e.getMessage()), e))));
      return DatabaseAddress.embedded(postgres);
    } catch (PostgresException e) {
      throw new CannotStart(String.valueOf(e.getMessage()), e);
    }
  }

  private <T extends AutoCloseable> T opened(T resource) {
    opened.push(resource);
    return resource;
  }
}
