package dev.lockstep.server;

import io.vertx.ext.web.RoutingContext;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What every response carries: the request's id, and what keeps browsers from doing harm. */
final class Headers {
  private static final Logger log = LoggerFactory.getLogger(Headers.class);

  private static final String REQUEST_ID = "X-Request-Id";

  /** A client's own id is taken over only if it is fit for a header and a log line. */
  private static final Pattern FIT = Pattern.compile("[A-Za-z0-9._:-]{1,64}");

  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'; trusted-types 'none'";

  private Headers() {}

  static void add(RoutingContext context) {
    String given = context.request().getHeader(REQUEST_ID);
    String id =
        given != null && FIT.matcher(given).matches() ? given : UUID.randomUUID().toString();
    context
        .response()
        .putHeader(REQUEST_ID, id)
        .putHeader("Content-Security-Policy", POLICY)
        .putHeader("X-Content-Type-Options", "nosniff")
        .putHeader("X-Frame-Options", "DENY")
        .putHeader("Cross-Origin-Opener-Policy", "same-origin")
        .putHeader("Cross-Origin-Resource-Policy", "same-origin")
        .putHeader("Referrer-Policy", "no-referrer")
        .putHeader("Cache-Control", "no-store");
    if (log.isDebugEnabled()) {
      logAtEnd(context, id);
    }
    context.next();
  }

  static @Nullable String requestId(RoutingContext context) {
    return context.response().headers().get(REQUEST_ID);
  }

  /** Path, not URI: a query may hold what a log should not. */
  private static void logAtEnd(RoutingContext context, String id) {
    long startedAt = System.nanoTime();
    context.addEndHandler(
        ended ->
            log.atDebug()
                .addKeyValue("request", id)
                .addKeyValue("method", context.request().method())
                .addKeyValue("path", context.request().path())
                .addKeyValue("status", context.response().getStatusCode())
                .addKeyValue("micros", (System.nanoTime() - startedAt) / 1_000)
                .log("answered"));
  }
}
