package dev.lockstep.server.api;

import io.vertx.core.http.Cookie;
import io.vertx.core.http.CookieSameSite;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The cookie that carries a shop visitor's buyer key. No script can read it, and it counts only in
 * requests that come from the shop's own pages: a browser adds cookies by itself, also to what
 * another site makes it send.
 */
public final class VisitorCookie {
  static final String NAME = "lockstep_visitor";
  private static final Set<HttpMethod> SAFE = Set.of(HttpMethod.GET, HttpMethod.HEAD);

  private VisitorCookie() {}

  /** The key in the cookie, if the request is one of our own pages'. */
  public static Optional<String> key(HttpServerRequest request) {
    Cookie cookie = request.getCookie(NAME);
    if (cookie == null || foreign(request)) {
      return Optional.empty();
    }
    // Browsers say where a request comes from whenever it can change something, and on secure
    // origins always. What changes something must say so; a read without a word is let through.
    boolean silent = request.getHeader("Sec-Fetch-Site") == null && origin(request) == null;
    return silent && !SAFE.contains(request.method())
        ? Optional.empty()
        : Optional.of(cookie.getValue());
  }

  /** Whether a browser says that another site made it send this. */
  public static boolean foreign(HttpServerRequest request) {
    String site = request.getHeader("Sec-Fetch-Site");
    if (site != null) {
      return !site.equals("same-origin");
    }
    String origin = origin(request);
    return origin != null && !isOurs(origin, request.getHeader("Host"));
  }

  /** Not {@code Secure}: this server speaks plain HTTP, where such a cookie would be dropped. */
  public static void set(HttpServerRequest request, String key, Duration maxAge) {
    request
        .response()
        .addCookie(
            Cookie.cookie(NAME, key)
                .setPath("/")
                .setHttpOnly(true)
                .setSameSite(CookieSameSite.STRICT)
                .setMaxAge(maxAge.toSeconds()));
  }

  public static void clear(HttpServerRequest request) {
    set(request, "", Duration.ZERO);
  }

  private static @Nullable String origin(HttpServerRequest request) {
    return request.getHeader("Origin");
  }

  private static boolean isOurs(String origin, @Nullable String host) {
    try {
      String authority = URI.create(origin).getRawAuthority();
      return host != null && host.equalsIgnoreCase(authority);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
