package dev.lockstep.server;

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
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.time.Instant;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP face, on the loopback interface only. It listens from the start and is ready once it was
 * given a database. Whatever waits for the database runs on a worker, never on an event loop.
 */
final class HttpApi implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(HttpApi.class);

  private static final String LOOPBACK = "127.0.0.1";
  private static final int FIRST_UNPRIVILEGED_PORT = 1024;
  private static final long LISTEN_TIMEOUT_SECONDS = 10;
  private static final long CLOSE_TIMEOUT_SECONDS = 10;
  private static final String POLICY =
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private final Instant startedAt = Instant.now();
  private final Vertx vertx;
  private final HttpServer server;
  private volatile @Nullable Database database;

  private HttpApi(int port) {
    vertx = Vertx.vertx(options());
    server =
        vertx
            .createHttpServer(new HttpServerOptions().setHost(LOOPBACK).setPort(port))
            .requestHandler(routes());
  }

  /**
   * Listens, not ready yet.
   *
   * @throws CannotStart when the port is taken or not ours to take
   */
  static HttpApi listen(int port) {
    HttpApi api = new HttpApi(port);
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

  /** From here on requests are served from this database, which stays the caller's to close. */
  void serve(Database migrated) {
    database = migrated;
  }

  int port() {
    return server.actualPort();
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
    // Everything served comes from memory; without this a cache folder is made at every start.
    return new VertxOptions()
        .setFileSystemOptions(
            new FileSystemOptions()
                .setFileCachingEnabled(false)
                .setClassPathResolvingEnabled(false));
  }

  private Router routes() {
    Router router = Router.router(vertx);
    router.route().handler(HttpApi::protect);
    get(router, "/").handler(this::statusPage);
    get(router, "/healthz").handler(this::healthz);
    get(router, "/readyz").handler(this::readyz);
    get(router, "/style.css").handler(resource("style.css", "text/css; charset=utf-8"));
    get(router, "/icon.svg").handler(resource("icon.svg", "image/svg+xml"));
    router.errorHandler(400, c -> Problem.badRequest().send(c.response()));
    router.errorHandler(404, c -> Problem.notFound(c.request().path()).send(c.response()));
    router.errorHandler(
        405, c -> Problem.methodNotAllowed(c.request().method().name()).send(c.response()));
    router.errorHandler(500, HttpApi::failed);
    return router;
  }

  private static Route get(Router router, String path) {
    return router.route(path).method(HttpMethod.GET).method(HttpMethod.HEAD);
  }

  private static void protect(RoutingContext context) {
    context
        .response()
        .putHeader("Content-Security-Policy", POLICY)
        .putHeader("X-Content-Type-Options", "nosniff")
        .putHeader("Referrer-Policy", "no-referrer")
        .putHeader("Cache-Control", "no-store");
    context.next();
  }

  private void healthz(RoutingContext context) {
    context.json(new JsonObject().put("status", "alive").put("version", Version.CURRENT));
  }

  private void readyz(RoutingContext context) {
    readiness()
        .onSuccess(
            readiness -> {
              if (readiness.ready()) {
                context.json(new JsonObject().put("status", "ready"));
              } else {
                context.response().putHeader("Retry-After", "1");
                Problem.notReady(readiness.explanation()).send(context.response());
              }
            })
        .onFailure(context::fail);
  }

  private void statusPage(RoutingContext context) {
    readiness()
        .map(readiness -> StatusPage.render(Version.CURRENT, startedAt, readiness))
        .onSuccess(
            html ->
                context.response().putHeader("Content-Type", "text/html; charset=utf-8").end(html))
        .onFailure(context::fail);
  }

  private Future<Readiness> readiness() {
    Database current = database;
    return current == null
        ? Future.succeededFuture(Readiness.starting())
        : vertx.executeBlocking(() -> Readiness.of(current), false);
  }

  private static void failed(RoutingContext context) {
    log.error(
        "{} {} failed", context.request().method(), context.request().path(), context.failure());
    Problem.internal().send(context.response());
  }

  private static Handler<RoutingContext> resource(String name, String type) {
    Buffer content = Buffer.buffer(read(name));
    return context -> context.response().putHeader("Content-Type", type).end(content.copy());
  }

  private static byte[] read(String name) {
    try (InputStream in = HttpApi.class.getResourceAsStream("web/" + name)) {
      if (in == null) {
        throw new IllegalStateException(name + " is not in the build");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Below 1024 a refusal more often means that only root may listen there; the system says which.
   */
  private static CannotStart cannotListen(int port, Throwable cause) {
    String problem =
        cause instanceof BindException && port >= FIRST_UNPRIVILEGED_PORT
            ? "port " + port + " is taken; stop what listens there, perhaps another Lockstep, or"
            : "cannot listen on port " + port + " (" + cause.getMessage() + ");";
    return new CannotStart(problem + " choose another with --port", cause);
  }

  private static <T> void await(Future<T> future, long timeoutSeconds)
      throws ExecutionException, TimeoutException, InterruptedException {
    future.toCompletionStage().toCompletableFuture().get(timeoutSeconds, TimeUnit.SECONDS);
  }
}
