package dev.lockstep.server.api;

import dev.lockstep.server.rate.Allowance;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves a table of endpoints. Each request is checked in this order: the key (from the header,
 * else a visitor's from the cookie), the rate limit, the role, the path, the query. Only then is
 * the body read and the handler run, so a refused request cannot make the server hold a body.
 */
public final class ApiRouter {
  private static final String BEARER = "bearer ";

  private final List<Endpoint> endpoints;
  private final Authenticator authenticator;
  private final Unanswered unanswered;
  private final FaultLog faultLog;
  private final BodyLimits bodies;
  private final BodyBudget budget;

  /**
   * @param trouble why the database cannot serve now, from memory
   * @param budget shared by all bodies in flight
   */
  public ApiRouter(
      List<Endpoint> endpoints,
      Authenticator authenticator,
      Supplier<Optional<Trouble>> trouble,
      FaultLog faultLog,
      BodyLimits bodies,
      BodyBudget budget) {
    this.endpoints = List.copyOf(endpoints);
    this.authenticator = authenticator;
    this.unanswered = new Unanswered(trouble);
    this.faultLog = faultLog;
    this.bodies = bodies;
    this.budget = budget;
  }

  public void mountOn(Router router, Vertx vertx) {
    unanswered.start(vertx);
    for (Endpoint endpoint : endpoints) {
      var route = router.route(endpoint.route()).method(endpoint.method());
      if (endpoint.method().equals(HttpMethod.GET)) {
        route.method(HttpMethod.HEAD);
      }
      route.handler(context -> serve(context, endpoint));
    }
  }

  /**
   * Authenticates as the API does, for what is not part of it: while the database is in trouble, it
   * fails soon, and with a problem that names the trouble.
   */
  public Authenticator authenticator(Vertx vertx) {
    return new Authenticator() {
      @Override
      public Future<Optional<Principal>> authenticate(String key, String network) {
        return unanswered
            .orTrouble(vertx, authenticator.authenticate(key, network))
            .recover(thrown -> Future.failedFuture(toProblem(thrown)));
      }

      @Override
      public Optional<Allowance> admit(Optional<Principal> principal, String network) {
        return authenticator.admit(principal, network);
      }
    };
  }

  /** What it means for the caller, unless it is our own fault. */
  private Throwable toProblem(Throwable thrown) {
    Problem problem = unanswered.named(Faults.problemOf(thrown));
    return problem.status() == 503 ? problem.asException() : thrown;
  }

  /** The methods offered on this path, with or without a trailing slash. */
  public List<String> methodsOn(String path) {
    String plain = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    return endpoints.stream()
        .filter(endpoint -> matches(endpoint, plain))
        .map(endpoint -> endpoint.method().name())
        .distinct()
        .sorted()
        .toList();
  }

  private static boolean matches(Endpoint endpoint, String path) {
    return path.matches(endpoint.path().replaceAll("\\{[^}]+}", "[^/]+"));
  }

  private void serve(RoutingContext context, Endpoint endpoint) {
    IncomingBody body =
        new IncomingBody(
            context.request(), budget, Caller.of(context).network(), bodies.of(endpoint));
    Future<Answer> answer;
    try {
      answer =
          authenticate(context, endpoint)
              .compose(principal -> handle(context, endpoint, principal, body));
    } catch (RuntimeException e) {
      answer = Future.failedFuture(e);
    }
    unanswered
        .orTrouble(context.vertx(), answer.onComplete(known -> body.release()))
        .onSuccess(
            given -> {
              if (!given.streaming()) {
                EntityTag.of(endpoint, given, context.request()).send(context.response());
              }
            })
        .onFailure(thrown -> fail(context, thrown, body));
  }

  private Future<Answer> handle(
      RoutingContext context, Endpoint endpoint, Optional<Principal> principal, IncomingBody body) {
    boolean provesItself = provesItself(context, endpoint, principal);
    if (!provesItself) {
      count(context, principal);
    }
    requireRole(endpoint, principal);
    Map<String, String> path = path(context.normalizedPath(), endpoint);
    Query query = Query.of(context.request().query(), endpoint.query().keySet());
    return body.read()
        .compose(
            bytes -> {
              if (context.response().ended()) {
                // Refused while its body was arriving: the client was told that nothing was done.
                throw Problem.overloaded(Duration.ZERO).asException();
              }
              Object parsed = parsed(context, endpoint, bytes);
              Request request =
                  new Request(context, endpoint, principal, path, query, parsed, bytes)
                      .withRecheck(() -> authenticate(context, endpoint));
              if (endpoint.idempotencyKey() != Endpoint.IdempotencyKey.UNUSED) {
                request.idempotencyKey();
              }
              return provesItself ? proved(context, request, endpoint) : endpoint.handle(request);
            });
  }

  /** Authenticates by signature instead of by key. Only the body can tell whether it is right. */
  private static boolean provesItself(
      RoutingContext context, Endpoint endpoint, Optional<Principal> principal) {
    return principal.isEmpty()
        && endpoint.signature().filter(context.request().headers()::contains).isPresent();
  }

  /**
   * A valid signature counts against no limit; an invalid one counts like a request without a key.
   */
  private Future<Answer> proved(RoutingContext context, Request request, Endpoint endpoint) {
    try {
      return endpoint.handle(request);
    } catch (ProblemException e) {
      if (e.problem().isInvalidSignature()) {
        count(context, Optional.empty());
      }
      throw e;
    }
  }

  private void count(RoutingContext context, Optional<Principal> principal) {
    authenticator
        .admit(principal, Caller.of(context).network())
        .ifPresent(allowance -> requireRate(context, allowance));
  }

  private Future<Optional<Principal>> authenticate(RoutingContext context, Endpoint endpoint) {
    List<String> headers = context.request().headers().getAll(HttpHeaders.AUTHORIZATION);
    if (headers.isEmpty()) {
      return visitor(context, endpoint);
    }
    if (headers.size() > 1) {
      throw Problem.badRequest("Send one key: there are two Authorization headers.").asException();
    }
    String header = headers.get(0);
    if (!header.toLowerCase(Locale.ROOT).startsWith(BEARER)) {
      throw unauthorized("Send a key as 'Authorization: Bearer …'.");
    }
    return authenticator
        .authenticate(header.substring(BEARER.length()).strip(), Caller.of(context).network())
        .map(
            found -> {
              if (found.isEmpty()) {
                throw unauthorized("This key is unknown, expired or revoked.");
              }
              return found;
            });
  }

  /**
   * Finds the visitor of the shop. A stale cookie counts as no key: the browser sends it unasked
   * and must still be able to read public pages.
   */
  private Future<Optional<Principal>> visitor(RoutingContext context, Endpoint endpoint) {
    Optional<String> key =
        endpoint.roles().contains(Role.BUYER) ? VisitorCookie.key(context) : Optional.empty();
    return key.isEmpty()
        ? Future.succeededFuture(Optional.empty())
        : authenticator
            .authenticate(key.get(), Caller.of(context).network())
            .map(found -> found.filter(principal -> principal.role() == Role.BUYER));
  }

  private static void requireRole(Endpoint endpoint, Optional<Principal> principal) {
    if (endpoint.roles().isEmpty()) {
      return;
    }
    if (principal.isEmpty()) {
      throw unauthorized("This requires a key: send 'Authorization: Bearer …'.");
    }
    Role role = principal.get().role();
    if (!endpoint.roles().contains(role)) {
      throw Problem.forbidden("A key of role " + role.label() + " may not do this.").asException();
    }
  }

  private static void requireRate(RoutingContext context, Allowance allowance) {
    if (!allowance.granted()) {
      throw Problem.rateLimited(allowance, "Too many requests; try again later.").asException();
    }
    allowance.tell(context.response());
  }

  /** Reads the raw path: the router's decoder replaces invalid UTF-8. */
  private static Map<String, String> path(String raw, Endpoint endpoint) {
    String[] words = raw.split("/", -1);
    String[] names = endpoint.path().split("/", -1);
    Map<String, String> parameters = new HashMap<>();
    for (int i = 0; i < words.length; i++) {
      String word =
          Utf8.decodeUrl(words[i], false)
              .orElseThrow(
                  () -> Problem.badRequest("The path is not percent-encoded UTF-8.").asException());
      Text.storable("The path", word);
      if (i < names.length && names[i].startsWith("{")) {
        parameters.put(names[i].substring(1, names[i].length() - 1), word);
      }
    }
    return parameters;
  }

  private static @Nullable Object parsed(RoutingContext context, Endpoint endpoint, Buffer bytes) {
    if (endpoint.unread()) {
      return null;
    }
    if (bytes.length() == 0) {
      if (!endpoint.bodyOptional()) {
        throw Problem.badRequest("This requires a JSON body.").asException();
      }
      return null;
    }
    if (endpoint.body().isEmpty()) {
      throw Problem.badRequest("This takes no body.").asException();
    }
    JsonBody.requireJson(
        context.request().headers().getAll(HttpHeaders.CONTENT_TYPE),
        encoding(context.request().headers().getAll(HttpHeaders.CONTENT_ENCODING)));
    Object body = JsonBody.parse(bytes, endpoint.takesMany());
    endpoint.body().get().check("", body);
    return body;
  }

  /** Joins repeated headers: the codings of a body are one list. */
  private static @Nullable String encoding(List<String> headers) {
    return headers.isEmpty() ? null : String.join(",", headers);
  }

  private static ProblemException unauthorized(String detail) {
    return Problem.unauthorized(detail).asException();
  }

  private void fail(RoutingContext context, Throwable thrown, IncomingBody body) {
    Problem problem = unanswered.named(Faults.problemOf(thrown));
    String requestId = context.response().headers().get(Answer.REQUEST_ID);
    if (problem.status() >= 500 && !(Faults.causeOf(thrown) instanceof ProblemException)) {
      faultLog.failed(
          String.valueOf(requestId),
          context.request().method().name(),
          context.request().path(),
          problem,
          thrown);
    }
    if (context.response().headWritten()) {
      context.request().connection().close();
      return;
    }
    if (problem.status() == 401) {
      context.response().putHeader("WWW-Authenticate", "Bearer");
    }
    if (body.endsConnection()) {
      // Otherwise the rest of the body still arrives, or its end is unknown.
      context.response().putHeader("Connection", "close");
      problem.send(context.response());
      var unused = context.request().connection().close();
      return;
    }
    problem.send(context.response());
  }
}
