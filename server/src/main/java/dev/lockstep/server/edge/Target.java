package dev.lockstep.server.edge;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The target of a request. A proxy that decides by path must see the path that is served, so
 * targets that servers resolve differently are refused, not resolved.
 */
final class Target {
  /** The form sent to proxies; some pass it on unchanged (RFC 9112, section 3.2.2). */
  private static final Pattern ABSOLUTE = Pattern.compile("(?i:https?)://([^/?]*)(.*)");

  private static final Pattern EMPTY_SEGMENT = Pattern.compile("//");

  private static final Pattern DOT_SEGMENT = Pattern.compile("/(?:\\.|%2[eE]){1,2}(?=/|$)");

  private Target() {}

  /**
   * What is wrong with a target, or null.
   *
   * @param host from the request's Host header
   */
  static @Nullable String wrong(String target, Optional<String> host) {
    if (target.indexOf('#') >= 0) {
      return "The request target must not have a fragment.";
    }
    Matcher absolute = ABSOLUTE.matcher(target);
    boolean whole = absolute.matches();
    if (whole && host.filter(absolute.group(1)::equalsIgnoreCase).isEmpty()) {
      return "The request target must match the Host header.";
    }
    String rest = whole ? absolute.group(2) : target;
    String path = rest.split("\\?", 2)[0];
    if (!path.startsWith("/") && !(whole && path.isEmpty())) {
      return "The request target must be a path or an http(s) URL.";
    }
    if (path.indexOf('\\') >= 0
        || EMPTY_SEGMENT.matcher(path).find()
        || DOT_SEGMENT.matcher(path).find()) {
      return "A path must not have empty segments, dot segments or backslashes.";
    }
    return null;
  }
}
