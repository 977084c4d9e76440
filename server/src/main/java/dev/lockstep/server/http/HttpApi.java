package dev.lockstep.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.lockstep.server.api.ApiRouter;
import dev.lockstep.server.api.Authenticator;
import dev.lockstep.server.api.BodyBudget;
import dev.lockstep.server.api.Caller;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.FaultLog;
import dev.lockstep.server.api.InFlight;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.ProblemException;
import dev.lockstep.server.database.Database;
import dev.lockstep.server.document.ApiDocument;
import dev.lockstep.server.edge.AllowedHosts;
import dev.lockstep.server.edge.Connections;
import dev.lockstep.server.edge.EdgeConfig;
import dev.lockstep.server.edge.HttpLimits;
import dev.lockstep.server.edge.Observers;
import dev.lockstep.server.edge.OpenFiles;
import dev.lockstep.server.lifecycle.CannotStart;
import dev.lockstep.server.lifecycle.Version;
import dev.lockstep.server.metric.Metrics;
import dev.lockstep.server.page.Pages;
import dev.lockstep.server.page.Resource;
import dev.lockstep.server.rate.Allowance;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP server. It listens from the start, and is ready once it has a database and the services
 * on it. Blocking work runs on workers, never on an event loop.
 *
 * <p>Several event loops serve the same port and share everything here; a connection stays on one.
 */
public final class HttpApi implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(HttpApi.class);

  private static final Duration LISTEN_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(500);

  /** Lets clients receive what they were sent before the server stops. */
  private static final Duration LAST_ANSWERS = Duration.ofSeconds(1);

  private static final Set<String> WHILE_STOPPING = Set.of("/healthz", "/metrics");

  private final Instant startedAt = Instant.now();
  private final Vertx vertx;
  private final EdgeConfig edge;
  private final InFlight inFlight = new InFlight();
  private final Metrics metrics = new Metrics();
  private final FaultLog faultLog = new FaultLog();
  private final Connections connections;
  private final BodyBudget bodies;
  private final Observers observers;
  private final AllowedHosts hosts;
  private volatile int port;

  /** Replaced once, when the API is ready. */
  private volatile Router router;

  private volatile @Nullable Database database;
  private volatile Supplier<Map<String, List<String>>> problems = Map::of;
  private volatile Optional<Authenticator> authenticator = Optional.empty();

  private HttpApi(EdgeConfig wanted) {
    edge = wanted.withLimits(OpenFiles.fitting(wanted.limits()));
    vertx = Vertx.vertx(options(edge.limits()));
    connections = new Connections(edge.limits(), edge.trust(), metrics);
    observers = new Observers(edge.trust());
    hosts = new AllowedHosts(edge.trust());
    bodies =
        new BodyBudget(edge.limits().memory().bodies(), edge.limits().memory().bodiesPerAddress());
    metrics.gauge("lockstep.http.body.bytes", "Bytes of request bodies in flight.", bodies::taken);
    router = routes(null);
  }

  /**
   * Listens, but is not ready yet.
   *
   * @throws CannotStart when the port is taken or not permitted
   */
  public static HttpApi listen(String host, int port, EdgeConfig edge) {
    HttpApi api = new HttpApi(edge);
    try {
      await(api.listenOnEveryLoop(host, port), LISTEN_TIMEOUT);
      return api;
    } catch (ExecutionException e) {
      api.close();
      throw CannotStart.listening(port, e.getCause() == null ? e : e.getCause());
    } catch (TimeoutException | InterruptedException e) {
      api.close();
      throw CannotStart.listening(port, e);
    }
  }

  private Future<String> listenOnEveryLoop(String host, int wanted) {
    HttpLimits limits = edge.limits();
    HttpServerOptions options =
        new HttpServerOptions()
            // No HTTP/2 without TLS: nothing needs it, and it opens a way past proxies.
            .setHttp2ClearTextEnabled(false)
            // No WebSocket: nothing needs it, and its compression handler ends a connection with a
            // few hundred pipelined requests.
            .setPerFrameWebSocketCompressionSupported(false)
            .setPerMessageWebSocketCompressionSupported(false)
            .setTcpKeepAlive(true)
            .setMaxInitialLineLength(limits.requestLineBytes())
            .setMaxHeaderSize(limits.headerBytes());
    // With port 0, all loops share the port that the first one gets.
    SocketAddress address =
        wanted == 0
            ? SocketAddress.sharedRandomPort(1, host)
            : SocketAddress.inetSocketAddress(wanted, host);
    return vertx.deployVerticle(
        () -> new Loop(options, address),
        new DeploymentOptions().setInstances(limits.eventLoops()));
  }

  /** One event loop's server. */
  private final class Loop extends VerticleBase {
    private final HttpServerOptions options;
    private final SocketAddress address;

    Loop(HttpServerOptions options, SocketAddress address) {
      this.options = options;
      this.address = address;
    }

    @Override
    public Future<?> start() {
      return vertx
          .createHttpServer(options)
          .connectionHandler(connections::admit)
          .invalidRequestHandler(HttpApi.this::refuse)
          .requestHandler(HttpApi.this::serve)
          .listen(address)
          .onSuccess(server -> port = server.actualPort());
    }
  }

  /**
   * Serves the API from here on. The caller closes what it passes.
   *
   * @param wrong the problems of each background part of this node; from memory
   */
  public void serve(
      Database migrated,
      List<Endpoint> endpoints,
      Authenticator callers,
      Supplier<Map<String, List<String>>> wrong) {
    ApiRouter served =
        new ApiRouter(
            endpoints,
            callers,
            () -> migrated.finding().trouble(),
            faultLog,
            edge.limits().bodies(),
            bodies);
    List<Endpoint> described = new ArrayList<>(endpoints);
    described.addAll(Probes.ENDPOINTS);
    ApiDocument document = new ApiDocument(described, Version.CURRENT);
    Router complete = routes(served);
    byte[] openApi = document.openApi().toBuffer().getBytes();
    route(complete, "/openapi.json")
        .handler(this::admit)
        .handler(Resource.revalidated(openApi, "application/json")::serve);
    byte[] page = document.page().getBytes(UTF_8);
    route(complete, "/docs")
        .handler(this::admit)
        .handler(Resource.revalidated(page, "text/html; charset=utf-8")::serve);
    served.mountOn(complete, vertx);
    problems = wrong;
    authenticator = Optional.of(served.authenticator(vertx));
    // One write, so that no request sees half of the API, before /readyz reports ready.
    router = complete;
    database = migrated;
  }

  public Vertx vertx() {
    return vertx;
  }

  public InFlight inFlight() {
    return inFlight;
  }

  public Metrics metrics() {
    return metrics;
  }

  public int port() {
    return port;
  }

  /** Refuses new requests, and waits until clients have the answers to those in flight. */
  public void drain(Duration within) {
    long endNanos = System.nanoTime() + within.toNanos();
    try {
      await(inFlight.drain(), within);
      long leftNanos = Math.min(LAST_ANSWERS.toNanos(), endNanos - System.nanoTime());
      await(connections.flushed(), Duration.ofNanos(Math.max(0, leftNanos)));
    } catch (ExecutionException | TimeoutException e) {
      log.warn("Stopping before some clients have received their answers");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends every connection at once, stalled clients included. */
  @Override
  public void close() {
    connections.endAll();
    try {
      await(vertx.close(), CLOSE_TIMEOUT);
    } catch (ExecutionException | TimeoutException e) {
      log.warn("HTTP did not close in order: {}", e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static VertxOptions options(HttpLimits limits) {
    return new VertxOptions()
        .setEventLoopPoolSize(limits.eventLoops())
        // Uses epoll on Linux; elsewhere Java's selectors, which cost more processor time.
        .setPreferNativeTransport(true)
        // Everything comes from memory; otherwise a cache folder would be created at every start.
        .setFileSystemOptions(
            new FileSystemOptions()
                .setFileCachingEnabled(false)
                .setClassPathResolvingEnabled(false));
  }

  /**
   * @param served null before there is anything to serve from
   */
  private Router routes(@Nullable ApiRouter served) {
    Router routes = Router.router(vertx);
    routes.route().handler(this::begin);
    routes.route().handler(Headers::log);
    routes.route().handler(metrics.http()::count);
    routes.route().handler(hosts::check);
    routes.route().handler(this::enter);
    route(routes, "/healthz").handler(this::healthz);
    route(routes, "/metrics").handler(this::metrics);
    Pages.mountOn(routes, this::admit);
    route(routes, "/status").handler(this::admit).handler(this::statusPage);
    route(routes, "/readyz").handler(this::readyz);
    new ErrorAnswers(served, faultLog).mountOn(routes);
    return routes;
  }

  /** {@code OPTIONS *} concerns the server as a whole; no route handles it. */
  private void serve(HttpServerRequest request) {
    Headers.add(request);
    if (request.method().equals(HttpMethod.OPTIONS) && request.uri().equals("*")) {
      if (!hosts.allows(request, connections.begin(request))) {
        hosts.refuse(request);
        return;
      }
      request
          .response()
          .putHeader("Allow", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT")
          .setStatusCode(204)
          .end();
      return;
    }
    router.handle(request);
  }

  private void begin(RoutingContext context) {
    connections.begin(context.request()).attachTo(context);
    context.next();
  }

  /** A page counts like any request without a key. */
  private void admit(RoutingContext context) {
    Optional<Allowance> allowance =
        authenticator.flatMap(keys -> keys.admit(Optional.empty(), Caller.of(context).network()));
    if (allowance.isPresent() && !allowance.get().granted()) {
      Problem.rateLimited(allowance.get(), "Too many pages requested; try again later.")
          .send(context.response());
      return;
    }
    allowance.ifPresent(granted -> granted.tell(context.response()));
    context.next();
  }

  /** Health endpoints answer even while the server stops. */
  private void enter(RoutingContext context) {
    if (WHILE_STOPPING.contains(context.request().path())) {
      context.next();
    } else {
      inFlight.enter(context);
    }
  }

  /** Answers requests that reach no router: ambiguous or malformed ones. */
  private void refuse(HttpServerRequest request) {
    Headers.add(request);
    request.response().putHeader("Connection", "close");
    connections.refuse(request).send(request.response());
    var unused = request.connection().close();
  }

  private static Route route(Router router, String path) {
    return router.route(path).method(HttpMethod.GET).method(HttpMethod.HEAD);
  }

  private void healthz(RoutingContext context) {
    context.json(new JsonObject().put("status", "alive").put("version", Version.CURRENT));
  }

  /** From memory, so a scrape never waits, even while the database is in trouble. */
  private void metrics(RoutingContext context) {
    observers
        .requireMetrics(Caller.of(context), context.request(), authenticator)
        .compose(allowed -> vertx.executeBlocking(metrics::scrape, false))
        .onSuccess(
            text ->
                context
                    .response()
                    .putHeader("Content-Type", Probes.METRICS_TYPE + "; charset=utf-8")
                    .end(text))
        .onFailure(thrown -> refused(context, thrown));
  }

  private static void refused(RoutingContext context, Throwable thrown) {
    if (thrown instanceof ProblemException known) {
      if (known.problem().status() == 401) {
        context.response().putHeader("WWW-Authenticate", "Bearer");
      }
      known.problem().send(context.response());
    } else {
      context.fail(thrown);
    }
  }

  private void readyz(RoutingContext context) {
    Readiness readiness = readiness();
    if (readiness.ready()) {
      context.json(new JsonObject().put("status", "ready"));
    } else {
      Problem.notReady(readiness.explanation()).send(context.response());
    }
  }

  private void statusPage(RoutingContext context) {
    observers
        .mayKnow(Caller.of(context), context.request(), authenticator)
        .map(
            detailed ->
                detailed
                    ? StatusPage.render(Version.CURRENT, startedAt, readiness(), problems.get())
                    : StatusPage.withoutDetails(readiness()))
        .onSuccess(
            html ->
                context.response().putHeader("Content-Type", "text/html; charset=utf-8").end(html))
        .onFailure(context::fail);
  }

  private Readiness readiness() {
    Database current = database;
    return current == null ? Readiness.starting() : Readiness.of(current);
  }

  private static <T> void await(Future<T> future, Duration timeout)
      throws ExecutionException, TimeoutException, InterruptedException {
    future.toCompletionStage().toCompletableFuture().get(timeout.toMillis(), TimeUnit.MILLISECONDS);
  }
}
