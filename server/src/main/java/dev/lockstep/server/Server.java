package dev.lockstep.server;

import dev.lockstep.gateway.Gateway;
import dev.lockstep.postgres.PostgresConfig;
import dev.lockstep.postgres.PostgresException;
import dev.lockstep.postgres.PostgresKeeper;
import dev.lockstep.postgres.PostgresServer;
import dev.lockstep.server.config.ServerConfig;
import dev.lockstep.server.database.Database;
import dev.lockstep.server.database.DatabaseAddress;
import dev.lockstep.server.http.HttpApi;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.lifecycle.CannotStart;
import dev.lockstep.server.lifecycle.StopTime;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
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
 * <p>It binds the port first. So a taken port is noticed before any data is touched, nobody can
 * take the port while the database recovers, and meanwhile {@code /healthz} answers and {@code
 * /readyz} says why it is not ready.
 */
public final class Server implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Server.class);

  // A stop takes less than ten seconds, whatever clients and the database do. Each stage must end
  // by its deadline, counted from the start of the stop, or is abandoned. A sale may wait three
  // seconds for a lock. PostgreSQL has the most to write and gets all the time that the others
  // leave.
  private static final Duration DRAINED = Duration.ofMillis(3_500);
  private static final Duration SERVICES_CLOSED = Duration.ofMillis(5_500);
  private static final Duration POOLS_CLOSED = Duration.ofMillis(6_200);
  private static final Duration KEEPER_CLOSED = Duration.ofMillis(6_800);
  private static final Duration POSTGRES_ENDED = Duration.ofMillis(8_400);
  private static final Duration HTTP_CLOSED = Duration.ofMillis(8_900);

  /** Resources that end together, and their deadline. */
  private record Stage(Duration until, List<StopTime.Ending> endings) {}

  /** Newest first, the order of closing. */
  private final Deque<Stage> opened = new ArrayDeque<>();

  private final String host;
  private final HttpApi http;
  private volatile @Nullable Database database;
  private final Optional<Secret> firstOperatorKey;
  private final Optional<Gateway> gateway;

  private Server(
      ServerConfig config, LongSupplier nanoTime, Consumer<RuntimeException> cannotGoOn) {
    host = config.host();
    http = HttpApi.listen(host, config.port(), config.edge());
    opened(HTTP_CLOSED, within -> http.close());
    try {
      DatabaseAddress address =
          config.externalDatabase().orElseGet(() -> startEmbedded(config, cannotGoOn));
      Database open = Database.open(address, config.database());
      opened(POOLS_CLOSED, within -> open.close());
      database = open;
      Services services =
          Services.open(
              new Node(
                  open,
                  config,
                  http.vertx(),
                  http.inFlight(),
                  URI.create(url()),
                  http.metrics(),
                  nanoTime));
      opened(SERVICES_CLOSED, within -> services.close());
      gateway = services.gateway();
      firstOperatorKey = services.firstOperatorKey();
      http.serve(open, services.endpoints(), services.authenticator(), services::problems);
      // Ends first: requests in flight need everything else. Jobs and streams end meanwhile.
      List<StopTime.Ending> first = new ArrayList<>(services.workEndings());
      first.add(http::drain);
      opened.push(new Stage(DRAINED, first));
    } catch (Throwable e) {
      // An interrupt that ended the start must not end the cleanup as well.
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
   * @param cannotGoOn called once, on another thread, when the embedded database is lost
   * @throws CannotStart with the reason
   */
  public static Server start(ServerConfig config, Consumer<RuntimeException> cannotGoOn) {
    return new Server(config, System::nanoTime, cannotGoOn);
  }

  /**
   * The same with another clock for rate limits; only logs the loss of the embedded database.
   *
   * @throws CannotStart with one line that says why
   */
  public static Server start(ServerConfig config, LongSupplier nanoTime) {
    return new Server(config, nanoTime, e -> log.error("The database is gone for good", e));
  }

  /** The address as seen from this machine. */
  public String url() {
    boolean local =
        Set.of("0.0.0.0", "::", "localhost", ServerConfig.DEFAULT_HOST, "::1").contains(host);
    return "http://" + (local ? "localhost" : host) + ":" + http.port();
  }

  /** A key made at this start, to be shown once; empty if one already existed. */
  public Optional<Secret> firstOperatorKey() {
    return firstOperatorKey;
  }

  /** The built-in gateway, if there is no other provider. */
  public Optional<Gateway> gateway() {
    return gateway;
  }

  @Override
  public void close() {
    StopTime time = new StopTime();
    if (isGone()) {
      log.warn("The database is gone, so nothing can be handed over; stopping without it");
    }
    while (!opened.isEmpty()) {
      Stage next = opened.pop();
      time.end(next.until(), next.endings());
    }
  }

  /** From memory; after the database is closed, its last state. */
  private boolean isGone() {
    Database open = database;
    return open != null && open.finding().gone();
  }

  private DatabaseAddress startEmbedded(
      ServerConfig config, Consumer<RuntimeException> cannotGoOn) {
    try {
      PostgresServer postgres = PostgresServer.start(PostgresConfig.durable(config.data()));
      opened(POSTGRES_ENDED, within -> postgres.stop(isGone() ? Duration.ZERO : within));
      PostgresKeeper keeper =
          PostgresKeeper.over(
              postgres,
              PostgresKeeper.Patience.DEFAULT,
              e -> cannotGoOn.accept(new CannotStart(String.valueOf(e.getMessage()), e)));
      opened(KEEPER_CLOSED, within -> keeper.close());
      return DatabaseAddress.embedded(postgres);
    } catch (PostgresException e) {
      throw new CannotStart(String.valueOf(e.getMessage()), e);
    }
  }

  private void opened(Duration until, StopTime.Ending ending) {
    opened.push(new Stage(until, List.of(ending)));
  }
}
