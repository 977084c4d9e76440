package dev.lockstep.server.edge;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The target of a request. A proxy that decides by the path must find the path that is served, so
 * whatever servers resolve in different ways is refused rather than resolved.
 */
final class Target {
  /** Of requests to a proxy; some pass it on as it came (RFC 9112, section 3.2.2). */
  private static final Pattern ABSOLUTE = Pattern.compile("(?i:https?)://([^/?]*)(.*)");

  private static final Pattern EMPTY_SEGMENT = Pattern.compile("//");

  private static final Pattern DOT_SEGMENT = Pattern.compile("/(?:\\.|%2[eE]){1,2}(?=/|$)");

  private Target() {}

  /**
   * What is wrong with a target; null: nothing.
   *
   * @param host what the request says besides
   */
  static @Nullable String wrong(String target, Optional<String> host) {
    if (target.indexOf('#') >= 0) {
      return "The request's target has no fragment.";
    }
    Matcher absolute = ABSOLUTE.matcher(target);
    boolean whole = absolute.matches();
    if (whole && host.filter(absolute.group(1)::equalsIgnoreCase).isEmpty()) {
      return "The request's target is not of its Host.";
    }
    String rest = whole ? absolute.group(2) : target;
    String path = rest.split("\\?", 2)[0];
    if (!path.startsWith("/") && !(whole && path.isEmpty())) {
      return "The request's target is neither a path nor a URL of http or https.";
    }
    if (path.indexOf('\\') >= 0
        || EMPTY_SEGMENT.matcher(path).find()
        || DOT_SEGMENT.matcher(path).find()) {
      return "A path has no empty segments, no segments of dots and no backslashes.";
    }
    return null;
  }
}
