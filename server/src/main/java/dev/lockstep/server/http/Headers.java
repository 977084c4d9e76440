package dev.lockstep.server.http;

import dev.lockstep.server.api.Caller;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Headers of every response: the request id, and protections for browsers. */
public final class Headers {
  private static final Logger log = LoggerFactory.getLogger(Headers.class);

  private static final CharSequence REQUEST_ID = HttpHeaders.createOptimized("X-Request-Id");

  /** A client's id is accepted only if it is fit for a header and a log line. */
  private static final Pattern FIT = Pattern.compile("[A-Za-z0-9._:-]{1,64}");

  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'; trusted-types 'none'";

  private static final List<Fixed> FIXED =
      List.of(
          Fixed.of("Content-Security-Policy", POLICY),
          Fixed.of("X-Content-Type-Options", "nosniff"),
          Fixed.of("X-Frame-Options", "DENY"),
          Fixed.of("Cross-Origin-Opener-Policy", "same-origin"),
          Fixed.of("Cross-Origin-Resource-Policy", "same-origin"),
          Fixed.of("Referrer-Policy", "no-referrer"),
          Fixed.of("Cache-Control", "no-store"));

  /** A header with precomputed hash and bytes, since every answer carries it. */
  private record Fixed(CharSequence name, CharSequence value) {
    static Fixed of(String name, String value) {
      return new Fixed(HttpHeaders.createOptimized(name), HttpHeaders.createOptimized(value));
    }
  }

  private Headers() {}

  /** Runs before anything answers. */
  public static void add(HttpServerRequest request) {
    String given = request.getHeader(REQUEST_ID);
    String id = given != null && FIT.matcher(given).matches() ? given : newId();
    HttpServerResponse response = request.response().putHeader(REQUEST_ID, id);
    FIXED.forEach(header -> response.putHeader(header.name(), header.value()));
  }

  /** A handler that logs the request when it is answered. */
  public static void log(RoutingContext context) {
    if (log.isDebugEnabled()) {
      logAtEnd(context, String.valueOf(requestId(context)));
    }
    context.next();
  }

  /** Random, but not a secret: it need not be hard to guess. */
  private static String newId() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return new UUID(random.nextLong(), random.nextLong()).toString();
  }

  public static @Nullable String requestId(RoutingContext context) {
    return context.response().headers().get(REQUEST_ID);
  }

  /** The path, not the URI: a query may contain what logs should not. */
  private static void logAtEnd(RoutingContext context, String id) {
    long startedAt = System.nanoTime();
    context.addEndHandler(
        ended ->
            log.atDebug()
                .addKeyValue("request", id)
                .addKeyValue("method", context.request().method())
                .addKeyValue("path", context.request().path())
                .addKeyValue("from", Caller.of(context).address().getHostAddress())
                .addKeyValue("status", context.response().getStatusCode())
                .addKeyValue("micros", (System.nanoTime() - startedAt) / 1_000)
                .log("answered"));
  }
}
