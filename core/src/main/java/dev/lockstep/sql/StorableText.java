package dev.lockstep.sql;

import static java.util.Objects.requireNonNull;

import java.nio.charset.StandardCharsets;

/**
 * Checks that text survives the database unchanged. PostgreSQL refuses NUL. An unpaired surrogate
 * would be stored as a question mark, so two names could become one.
 */
public final class StorableText {
  private StorableText() {}

  public static boolean is(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean pair = i + 1 < text.length() && Character.isSurrogatePair(c, text.charAt(i + 1));
      if (pair) {
        i++;
      } else if (c == 0 || Character.isSurrogate(c)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Checks a name or key.
   *
   * @throws IllegalArgumentException if the text is blank, too long, or not storable
   * @throws NullPointerException if it is null; names it
   */
  public static void require(String what, String text, int maxLength) {
    requireNonNull(text, () -> what + " is null");
    if (text.isBlank() || text.length() > maxLength || !is(text)) {
      throw new IllegalArgumentException(
          "%s is 1 to %d characters, without NUL and half characters".formatted(what, maxLength));
    }
  }

  /**
   * Makes foreign text, such as an error message, storable: cuts it and replaces what cannot be
   * stored.
   */
  public static String of(String text, int maxLength) {
    String cut = text.length() > maxLength ? text.substring(0, maxLength) : text;
    // Encoding replaces an unpaired surrogate, including one that the cut left behind.
    return new String(cut.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)
        .replace('\0', ' ');
  }
}
