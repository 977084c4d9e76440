package dev.lockstep.server.edge;

import java.util.Locale;
import java.util.regex.Pattern;

/** The value of a {@code Host} header: a name or address with an optional port. */
final class HostName {
  private static final Pattern WELL_FORMED =
      Pattern.compile("(?:[A-Za-z0-9._~-]{1,255}|\\[[0-9A-Fa-f:.]{2,45}])(?::\\d{1,5})?");

  private HostName() {}

  static boolean wellFormed(String value) {
    return WELL_FORMED.matcher(value).matches();
  }

  /** Without the port, in lower case. */
  static String of(String value) {
    int port = value.indexOf(':', value.lastIndexOf(']') + 1);
    return (port < 0 ? value : value.substring(0, port)).toLowerCase(Locale.ROOT);
  }

  /** Whether it names the loopback. */
  static boolean loopback(String value) {
    String name = of(value);
    return name.equals("localhost")
        || name.endsWith(".localhost")
        || name.equals("[::1]")
        || name.matches("127(?:\\.\\d{1,3}){3}");
  }
}
