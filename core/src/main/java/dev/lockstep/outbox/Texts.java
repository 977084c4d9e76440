package dev.lockstep.outbox;

import dev.lockstep.sql.StorableText;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks and encodes names, headers and errors that the database stores. */
final class Texts {
  static final int MAX_NAME_LENGTH = 200;
  static final int MAX_KEY_LENGTH = 400;
  static final int MAX_HEADERS = 32;
  static final int MAX_HEADER_LENGTH = 1_000;
  static final int MAX_SETTINGS_LENGTH = 10_000;
  static final int MAX_REASON_LENGTH = 1_000;
  static final int MAX_ERROR_LENGTH = 4_000;

  // HTTP's header name syntax, so that every sink can send it.
  private static final Pattern HEADER = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}");
  private static final String RESERVED = "lockstep-";

  private Texts() {}

  static void require(String what, String text, int maxLength) {
    StorableText.require(what, text, maxLength);
  }

  /** Like {@link #require}, and without control characters. */
  static void requireLine(String what, String text, int maxLength) {
    require(what, text, maxLength);
    if (hasControl(text)) {
      throw new IllegalArgumentException(what + " must not have control characters");
    }
  }

  static void requireHeaders(Map<String, String> headers) {
    if (headers.size() > MAX_HEADERS) {
      throw new IllegalArgumentException("An event has at most %d headers".formatted(MAX_HEADERS));
    }
    headers.forEach(
        (name, value) -> {
          if (!HEADER.matcher(name).matches()
              || name.toLowerCase(Locale.ROOT).startsWith(RESERVED)) {
            throw new IllegalArgumentException(
                "A header's name must be an HTTP token of at most 100 characters, not beginning with %s"
                    .formatted(RESERVED));
          }
          if (value.length() > MAX_HEADER_LENGTH || !StorableText.is(value) || hasControl(value)) {
            throw new IllegalArgumentException(
                "A header's value must be at most %d characters, without control characters"
                    .formatted(MAX_HEADER_LENGTH));
          }
        });
  }

  /**
   * One line per header. Names have no colon and values no line break, so nothing needs quoting.
   */
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
        // Written by hand, not by us. One such row must not stop the others.
        break;
      }
      headers.put(text.substring(from, colon), text.substring(colon + 2, end));
      from = end + 1;
    }
    return headers;
  }

  /** The storable form of a reason; a default if there is none. */
  static String reason(@Nullable String text) {
    return text == null ? "No reason was given" : StorableText.of(text, MAX_ERROR_LENGTH);
  }

  /** The same for a throwable, even if its methods throw. */
  static String reason(Throwable failure) {
    try {
      Throwable cause = failure.getCause();
      boolean wrapped = failure instanceof CompletionException && cause != null;
      return reason(String.valueOf(wrapped ? cause : failure));
    } catch (RuntimeException | Error e) {
      return failure.getClass().getName();
    }
  }

  private static boolean hasControl(String text) {
    return text.chars().anyMatch(Character::isISOControl);
  }
}
