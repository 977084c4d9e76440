package dev.lockstep.server.api;

import io.vertx.core.http.Cookie;
import io.vertx.core.http.CookieSameSite;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The cookie that carries a shop visitor's buyer key. Scripts cannot read it. It counts only in
 * requests from the shop's own pages, because browsers also add cookies to requests that other
 * sites initiate.
 */
public final class VisitorCookie {
  static final String NAME = "lockstep_visitor";
  private static final Set<HttpMethod> SAFE = Set.of(HttpMethod.GET, HttpMethod.HEAD);

  private VisitorCookie() {}

  /** The key in the cookie, if one of our own pages sent the request. */
  static Optional<String> key(RoutingContext context) {
    HttpServerRequest request = context.request();
    Cookie cookie = request.getCookie(NAME);
    if (cookie == null || foreign(context)) {
      return Optional.empty();
    }
    // Browsers state the origin of every request that may change something, and on secure origins
    // of all. A change must state it; a read that does not is let through.
    boolean silent = request.getHeader("Sec-Fetch-Site") == null && origin(request) == null;
    return silent && !SAFE.contains(request.method())
        ? Optional.empty()
        : Optional.of(cookie.getValue());
  }

  static boolean foreign(RoutingContext context) {
    String site = context.request().getHeader("Sec-Fetch-Site");
    if (site != null) {
      return !site.equals("same-origin");
    }
    String origin = origin(context.request());
    return origin != null && !isOurs(origin, Caller.of(context).host());
  }

  /**
   * Sets {@code Secure} if a trusted proxy says that the browser uses HTTPS. Over plain HTTP the
   * browser would drop such a cookie.
   */
  public static void set(Request request, String key, Duration maxAge) {
    request
        .raw()
        .response()
        .addCookie(
            Cookie.cookie(NAME, key)
                .setPath("/")
                .setHttpOnly(true)
                .setSecure(request.from().secure())
                .setSameSite(CookieSameSite.STRICT)
                .setMaxAge(maxAge.toSeconds()));
  }

  public static void clear(Request request) {
    set(request, "", Duration.ZERO);
  }

  private static @Nullable String origin(HttpServerRequest request) {
    return request.getHeader("Origin");
  }

  private static boolean isOurs(String origin, Optional<String> host) {
    try {
      String authority = URI.create(origin).getRawAuthority();
      return host.isPresent() && host.get().equalsIgnoreCase(authority);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
