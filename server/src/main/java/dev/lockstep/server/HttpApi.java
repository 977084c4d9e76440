package dev.lockstep.server;

import dev.lockstep.server.api.ApiRouter;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.FaultLog;
import dev.lockstep.server.api.InFlight;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.document.ApiDocument;
import dev.lockstep.server.metric.Metrics;
import dev.lockstep.server.page.Pages;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP face. It listens from the start, and is ready once it was given a database and what
 * stands on it. Whatever waits for the database runs on a worker, never on an event loop.
 */
final class HttpApi implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(HttpApi.class);

  private static final long LISTEN_TIMEOUT_SECONDS = 10;
  private static final long CLOSE_TIMEOUT_SECONDS = 10;
  private static final long DRAIN_TIMEOUT_SECONDS = 10;

  private final Instant startedAt = Instant.now();
  private final Vertx vertx;
  private final InFlight inFlight = new InFlight();
  private final Metrics metrics = new Metrics();
  private final FaultLog faultLog = new FaultLog();
  private final Router router;
  private final HttpServer server;
  private volatile @Nullable Database database;
  private volatile Supplier<Map<String, List<String>>> problems = Map::of;
  private volatile @Nullable ApiRouter api;

  private HttpApi(String host, int port) {
    vertx = Vertx.vertx(options());
    router = routes();
    server =
        vertx
            .createHttpServer(new HttpServerOptions().setHost(host).setPort(port))
            .requestHandler(router);
  }

  /**
   * Listens, not ready yet.
   *
   * @throws CannotStart when the port is taken or not ours to take
   */
  static HttpApi listen(String host, int port) {
    HttpApi api = new HttpApi(host, port);
    try {
      await(api.server.listen(), LISTEN_TIMEOUT_SECONDS);
      return api;
    } catch (ExecutionException e) {
      api.close();
      throw cannotListen(port, e.getCause() == null ? e : e.getCause());
    } catch (TimeoutException | InterruptedException e) {
      api.close();
      throw cannotListen(port, e);
    }
  }

  /** From here on requests are served from these, which stay the caller's to close. */
  void serve(Database migrated, Services services) {
    ApiRouter served =
        new ApiRouter(
            services.endpoints(),
            services.authenticator(),
            () -> migrated.finding().trouble(),
            faultLog);
    List<Endpoint> described = new ArrayList<>(services.endpoints());
    described.addAll(Probes.ENDPOINTS);
    ApiDocument document = new ApiDocument(described, Version.CURRENT);
    get("/openapi.json").handler(content("application/json", document.openApi().toBuffer()));
    get("/docs").handler(content("text/html; charset=utf-8", Buffer.buffer(document.page())));
    served.mountOn(router, vertx);
    problems = services::problems;
    api = served;
    database = migrated;
  }

  Vertx vertx() {
    return vertx;
  }

  InFlight inFlight() {
    return inFlight;
  }

  Metrics metrics() {
    return metrics;
  }

  int port() {
    return server.actualPort();
  }

  /** Refuses what comes new and waits, in bounded time, for what is being answered. */
  void drain() {
    try {
      await(inFlight.drain(), DRAIN_TIMEOUT_SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      log.warn("Some requests were not answered within {} s", DRAIN_TIMEOUT_SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    try {
      await(vertx.close(), CLOSE_TIMEOUT_SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      log.warn("HTTP did not close in order: {}", e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static VertxOptions options() {
    return new VertxOptions()
        // On Linux; elsewhere it is Java's own, which takes more of the processor's time.
        .setPreferNativeTransport(true)
        // Everything served comes from memory; without this a cache folder is made at every start.
        .setFileSystemOptions(
            new FileSystemOptions()
                .setFileCachingEnabled(false)
                .setClassPathResolvingEnabled(false));
  }

  private Router routes() {
    Router routes = Router.router(vertx);
    routes.route().handler(Headers::add);
    routes.route().handler(metrics.http()::count);
    route(routes, "/healthz").handler(this::healthz);
    route(routes, "/metrics").handler(this::metrics);
    routes.route().handler(inFlight::enter);
    Pages.mountOn(routes);
    route(routes, "/status").handler(this::statusPage);
    route(routes, "/readyz").handler(this::readyz);
    routes.errorHandler(
        400, c -> Problem.badRequest("The request is not well formed.").send(c.response()));
    routes.errorHandler(404, this::notFound);
    routes.errorHandler(405, this::methodNotAllowed);
    routes.errorHandler(413, this::tooLarge);
    routes.errorHandler(500, this::failed);
    return routes;
  }

  private Route get(String path) {
    return route(router, path);
  }

  private static Route route(Router router, String path) {
    return router.route(path).method(HttpMethod.GET).method(HttpMethod.HEAD);
  }

  private void healthz(RoutingContext context) {
    context.json(new JsonObject().put("status", "alive").put("version", Version.CURRENT));
  }

  /** From memory: a scrape waits for nobody, not even for a database in trouble. */
  private void metrics(RoutingContext context) {
    vertx
        .executeBlocking(metrics::scrape, false)
        .onSuccess(
            text ->
                context
                    .response()
                    .putHeader("Content-Type", Probes.METRICS_TYPE + "; charset=utf-8")
                    .end(text))
        .onFailure(context::fail);
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
    context
        .response()
        .putHeader("Content-Type", "text/html; charset=utf-8")
        .end(StatusPage.render(Version.CURRENT, startedAt, readiness(), problems.get()));
  }

  private Readiness readiness() {
    Database current = database;
    return current == null ? Readiness.starting() : Readiness.of(current);
  }

  /**
   * Before the database is there, nothing of the API is: that is not the same as "no such thing".
   */
  private void notFound(RoutingContext context) {
    Problem problem =
        api == null && context.request().path().startsWith("/v1/")
            ? Problem.notReady(Readiness.starting().explanation())
            : Problem.of(
                "not-found",
                404,
                "Not found",
                "There is nothing at " + context.request().path() + ".");
    problem.send(context.response());
  }

  private void methodNotAllowed(RoutingContext context) {
    ApiRouter served = api;
    List<String> methods = served == null ? List.of() : served.methodsOn(context.request().path());
    context
        .response()
        .putHeader("Allow", methods.isEmpty() ? "GET, HEAD" : String.join(", ", methods));
    Problem.methodNotAllowed(context.request().method().name()).send(context.response());
  }

  private void tooLarge(RoutingContext context) {
    ApiRouter current = api;
    int most =
        current == null ? ApiRouter.MAX_BODY_BYTES : current.maxBodyBytes(context.request().path());
    Problem.of("body-too-large", 413, "Body too large", "A body has at most " + most + " bytes.")
        .send(context.response());
  }

  private void failed(RoutingContext context) {
    Throwable thrown = context.failure();
    faultLog.failed(
        String.valueOf(Headers.requestId(context)),
        context.request().method().name(),
        context.request().path(),
        Problem.internal(),
        thrown == null ? new IllegalStateException("failed without a cause") : thrown);
    Problem.internal().send(context.response());
  }

  private static Handler<RoutingContext> content(String type, Buffer content) {
    return context -> context.response().putHeader("Content-Type", type).end(content.copy());
  }

  /** The system says why, and each transport throws it as something else. */
  private static CannotStart cannotListen(int port, Throwable cause) {
    String why = String.valueOf(cause.getMessage());
    String problem =
        why.contains("already in use")
            ? "port " + port + " is taken; stop what listens there, perhaps another Lockstep, or"
            : "cannot listen on port " + port + " (" + why + ");";
    return new CannotStart(problem + " choose another with --port", cause);
  }

  private static <T> void await(Future<T> future, long timeoutSeconds)
      throws ExecutionException, TimeoutException, InterruptedException {
    future.toCompletionStage().toCompletableFuture().get(timeoutSeconds, TimeUnit.SECONDS);
  }
}
