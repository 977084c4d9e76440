package dev.lockstep.tx;

import java.nio.charset.StandardCharsets;

/**
 * Text that is the same before and after the database: without NUL, which it refuses, and without
 * half a character (an unpaired surrogate), which would be stored as a question mark, so that two
 * names could become one.
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
   * For names and keys.
   *
   * @throws IllegalArgumentException if it is blank, too long, or not storable
   */
  public static void require(String what, String text, int maxLength) {
    if (text.isBlank() || text.length() > maxLength || !is(text)) {
      throw new IllegalArgumentException(
          "%s is 1 to %d characters, without NUL and half characters".formatted(what, maxLength));
    }
  }

  /** What can be stored of a text that others made: an error's message, say. */
  public static String of(String text, int maxLength) {
    String cut = text.length() > maxLength ? text.substring(0, maxLength) : text;
    // Encoding replaces half a character, also one that was cut in the middle.
    return new String(cut.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)
        .replace('\0', ' ');
  }
}
