package dev.lockstep.server;

import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What every response carries: the request's id, and what keeps browsers from doing harm. */
final class Headers {
  private static final Logger log = LoggerFactory.getLogger(Headers.class);

  // Names and values that know their hash and their bytes: they are in every answer.
  private static final CharSequence REQUEST_ID = optimized("X-Request-Id");
  private static final CharSequence CONTENT_TYPE_OPTIONS = optimized("X-Content-Type-Options");
  private static final CharSequence NO_SNIFF = optimized("nosniff");
  private static final CharSequence FRAME_OPTIONS = optimized("X-Frame-Options");
  private static final CharSequence DENY = optimized("DENY");
  private static final CharSequence OPENER_POLICY = optimized("Cross-Origin-Opener-Policy");
  private static final CharSequence RESOURCE_POLICY = optimized("Cross-Origin-Resource-Policy");
  private static final CharSequence SAME_ORIGIN = optimized("same-origin");
  private static final CharSequence REFERRER_POLICY = optimized("Referrer-Policy");
  private static final CharSequence NO_REFERRER = optimized("no-referrer");
  private static final CharSequence NO_STORE = optimized("no-store");
  private static final CharSequence CONTENT_SECURITY_POLICY = optimized("Content-Security-Policy");

  /** A client's own id is taken over only if it is fit for a header and a log line. */
  private static final Pattern FIT = Pattern.compile("[A-Za-z0-9._:-]{1,64}");

  private static final CharSequence POLICY =
      optimized(
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
              + " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
              + " require-trusted-types-for 'script'; trusted-types 'none'");

  private Headers() {}

  static void add(RoutingContext context) {
    String given = context.request().getHeader(REQUEST_ID);
    String id = given != null && FIT.matcher(given).matches() ? given : newId();
    context
        .response()
        .putHeader(REQUEST_ID, id)
        .putHeader(CONTENT_SECURITY_POLICY, POLICY)
        .putHeader(CONTENT_TYPE_OPTIONS, NO_SNIFF)
        .putHeader(FRAME_OPTIONS, DENY)
        .putHeader(OPENER_POLICY, SAME_ORIGIN)
        .putHeader(RESOURCE_POLICY, SAME_ORIGIN)
        .putHeader(REFERRER_POLICY, NO_REFERRER)
        .putHeader(HttpHeaders.CACHE_CONTROL, NO_STORE);
    if (log.isDebugEnabled()) {
      logAtEnd(context, id);
    }
    context.next();
  }

  /** Of random bits, and no secret: it need not be hard to guess. */
  private static String newId() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return new UUID(random.nextLong(), random.nextLong()).toString();
  }

  private static CharSequence optimized(String text) {
    return HttpHeaders.createOptimized(text);
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
