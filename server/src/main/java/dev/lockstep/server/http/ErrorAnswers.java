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

/** Answers what no route does, with a problem each. Thread-safe. */
public final class ErrorAnswers {
  private static final Logger log = LoggerFactory.getLogger(ErrorAnswers.class);

  private final @Nullable ApiRouter api;
  private final FaultLog faultLog;

  /**
   * @param api null for a router that serves before the database is there
   */
  public ErrorAnswers(@Nullable ApiRouter api, FaultLog faultLog) {
    this.api = api;
    this.faultLog = faultLog;
  }

  public void mountOn(Router routes) {
    // Vert.x Web answers a status without a handler itself, in plain text, and logs a stack trace.
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

  /**
   * Before the database is there, nothing of the API is: that is not the same as "no such thing".
   */
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
      // Says what there is, and opens nothing to other sites.
      context.response().setStatusCode(204).end();
      return;
    }
    Problem.methodNotAllowed(context.request().method().name()).send(context.response());
  }

  /** What is read with GET is also read with HEAD, and anything may be asked for its options. */
  private static String allowed(List<String> methods) {
    Set<String> all = new TreeSet<>(methods.isEmpty() ? List.of("GET") : methods);
    if (all.contains("GET")) {
      all.add("HEAD");
    }
    all.add("OPTIONS");
    return String.join(", ", all);
  }

  /** A status that no route of ours fails with. */
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
   * The body broke off, or its chunks are none; the body handler fails with status 200 then. Where
   * the next request would begin is not known, so the connection ends.
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
    return Problem.badRequest("The request is not well formed.");
  }

  /** Gone, or told so already, before the request was complete. */
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
