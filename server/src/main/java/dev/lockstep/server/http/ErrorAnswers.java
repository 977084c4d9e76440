package dev.lockstep.server.http;

import dev.lockstep.server.api.ApiRouter;
import dev.lockstep.server.api.FaultLog;
import dev.lockstep.server.api.Problem;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.HttpException;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers requests that no route handles, each with a problem. Thread-safe. */
public final class ErrorAnswers {
  private static final Logger log = LoggerFactory.getLogger(ErrorAnswers.class);

  private final @Nullable ApiRouter api;
  private final FaultLog faultLog;

  /**
   * @param api null for the router that serves before the database is there
   */
  public ErrorAnswers(@Nullable ApiRouter api, FaultLog faultLog) {
    this.api = api;
    this.faultLog = faultLog;
  }

  public void mountOn(Router routes) {
    // Vert.x Web would answer in plain text and log a stack trace.
    for (int status = 100; status < 400; status++) {
      routes.errorHandler(status, this::unreadable);
    }
    for (int status = 400; status < 500; status++) {
      routes.errorHandler(status, this::refused);
    }
    for (int status = 500; status < 600; status++) {
      routes.errorHandler(status, this::failed);
    }
    routes.errorHandler(404, this::notFound);
    routes.errorHandler(405, this::methodNotAllowed);
  }

  /** Until the database is there, paths of the API are "not ready" rather than "not found". */
  private void notFound(RoutingContext context) {
    Problem problem =
        api == null && ofTheApi(context.request().path())
            ? Problem.notReady(Readiness.starting().explanation())
            : Problem.of(
                "not-found",
                404,
                "Not found",
                "There is nothing at " + context.request().path() + ".");
    problem.send(context.response());
  }

  private static boolean ofTheApi(String path) {
    return path.startsWith("/v1/") || path.equals("/openapi.json") || path.equals("/docs");
  }

  private void methodNotAllowed(RoutingContext context) {
    ApiRouter served = api;
    List<String> methods = served == null ? List.of() : served.methodsOn(context.normalizedPath());
    context.response().putHeader("Allow", allowed(methods));
    if (context.request().method().equals(HttpMethod.OPTIONS)) {
      // Lists the methods, and permits nothing to other sites.
      context.response().setStatusCode(204).end();
      return;
    }
    Problem.methodNotAllowed(context.request().method().name()).send(context.response());
  }

  /** HEAD works wherever GET does, and OPTIONS everywhere. */
  private static String allowed(List<String> methods) {
    Set<String> all = new TreeSet<>(methods.isEmpty() ? List.of("GET") : methods);
    if (all.contains("GET")) {
      all.add("HEAD");
    }
    all.add("OPTIONS");
    return String.join(", ", all);
  }

  /** A status that none of our routes fails with. */
  private void refused(RoutingContext context) {
    boolean whileReading =
        context.failure() != null && !(context.failure() instanceof HttpException);
    if (whileReading) {
      unreadable(context);
    } else {
      notWellFormed().send(context.response());
    }
  }

  /**
   * The body broke off or its chunks are malformed; the body handler then fails with status 200.
   * Where the next request begins is unknown, so the connection ends.
   */
  private void unreadable(RoutingContext context) {
    if (isOver(context)) {
      return;
    }
    Throwable thrown = cause(context);
    if (thrown instanceof IOException || thrown instanceof HttpClosedException) {
      log.debug("A client went away while it sent a body: {}", thrown.toString());
    } else {
      tell(context, notWellFormed(), thrown);
      context.response().putHeader("Connection", "close");
      notWellFormed().send(context.response());
    }
    var unused = context.request().connection().close();
  }

  private static Problem notWellFormed() {
    return Problem.badRequest("The request is malformed.");
  }

  /** The client is gone, or already has an answer. */
  private static boolean isOver(RoutingContext context) {
    return context.response().ended() || context.response().closed();
  }

  private static Throwable cause(RoutingContext context) {
    Throwable thrown = context.failure();
    return thrown == null ? new IllegalStateException("failed without a cause") : thrown;
  }

  private void tell(RoutingContext context, Problem problem, Throwable thrown) {
    faultLog.failed(
        String.valueOf(Headers.requestId(context)),
        context.request().method().name(),
        context.request().path(),
        problem,
        thrown);
  }

  private void failed(RoutingContext context) {
    if (isOver(context)) {
      return;
    }
    tell(context, Problem.internal(), cause(context));
    Problem.internal().send(context.response());
  }
}
