package dev.lockstep.server;

import dev.lockstep.server.api.ApiRouter;
import dev.lockstep.server.api.FaultLog;
import dev.lockstep.server.api.Problem;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Answers what no route does, with a problem each. Thread-safe. */
final class ErrorAnswers {
  private final @Nullable ApiRouter api;
  private final FaultLog faultLog;

  /**
   * @param api null for a router that serves before the database is there
   */
  ErrorAnswers(@Nullable ApiRouter api, FaultLog faultLog) {
    this.api = api;
    this.faultLog = faultLog;
  }

  void mountOn(Router routes) {
    routes.errorHandler(
        400, c -> Problem.badRequest("The request is not well formed.").send(c.response()));
    routes.errorHandler(404, this::notFound);
    routes.errorHandler(405, this::methodNotAllowed);
    routes.errorHandler(500, this::failed);
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
    List<String> methods = served == null ? List.of() : served.methodsOn(context.request().path());
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

  private void failed(RoutingContext context) {
    if (context.response().ended() || context.response().closed()) {
      // Gone, or told so already, before the request was complete.
      return;
    }
    Throwable thrown = context.failure();
    faultLog.failed(
        String.valueOf(Headers.requestId(context)),
        context.request().method().name(),
        context.request().path(),
        Problem.internal(),
        thrown == null ? new IllegalStateException("failed without a cause") : thrown);
    Problem.internal().send(context.response());
  }
}
