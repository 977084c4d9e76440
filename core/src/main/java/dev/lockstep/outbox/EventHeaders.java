package dev.lockstep.outbox;

import dev.lockstep.sql.StorableText;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** Checks an event's headers and stores them as text, one line per header. */
final class EventHeaders {
  static final int MAX_HEADERS = 32;
  static final int MAX_VALUE_LENGTH = 1_000;

  // HTTP's header name syntax, so that every sink can send it.
  private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}");
  private static final String RESERVED = "lockstep-";

  private EventHeaders() {}

  static void require(Map<String, String> headers) {
    if (headers.size() > MAX_HEADERS) {
      throw new IllegalArgumentException("An event has at most %d headers".formatted(MAX_HEADERS));
    }
    headers.forEach(
        (name, value) -> {
          if (!NAME.matcher(name).matches() || name.toLowerCase(Locale.ROOT).startsWith(RESERVED)) {
            throw new IllegalArgumentException(
                "A header's name must be an HTTP token of at most 100 characters, not beginning with %s"
                    .formatted(RESERVED));
          }
          if (value.length() > MAX_VALUE_LENGTH
              || !StorableText.is(value)
              || TextLimits.hasControl(value)) {
            throw new IllegalArgumentException(
                "A header's value must be at most %d characters, without control characters"
                    .formatted(MAX_VALUE_LENGTH));
          }
        });
  }

  /** Names have no colon and values no line break, so nothing needs quoting. */
  static String encode(Map<String, String> headers) {
    StringBuilder text = new StringBuilder();
    headers.forEach((name, value) -> text.append(name).append(": ").append(value).append('\n'));
    return text.toString();
  }

  static Map<String, String> decode(String text) {
    if (text.isEmpty()) {
      return Map.of();
    }
    Map<String, String> headers = new LinkedHashMap<>();
    for (int from = 0; from < text.length(); ) {
      int colon = text.indexOf(": ", from);
      int end = text.indexOf('\n', from);
      if (colon < 0 || end < colon) {
        // Somebody wrote this row by hand. It must not stop the others.
        break;
      }
      headers.put(text.substring(from, colon), text.substring(colon + 2, end));
      from = end + 1;
    }
    return headers;
  }
}
