package dev.lockstep.job;

import java.nio.charset.StandardCharsets;

/** Text that the database stores as it is and finds again. */
final class Names {
  static final int MAX_LENGTH = 200;

  private Names() {}

  /**
   * @throws IllegalArgumentException for a blank or too long name, NUL, or half a character
   */
  static void require(String what, String name) {
    if (name.isBlank() || name.length() > MAX_LENGTH || !isStorable(name)) {
      throw new IllegalArgumentException(
          "%s is 1 to %d characters, without NUL and half characters".formatted(what, MAX_LENGTH));
    }
  }

  static boolean isStorable(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0) {
        return false;
      }
      if (Character.isSurrogate(c)) {
        i++;
        if (i == text.length() || !Character.isSurrogatePair(c, text.charAt(i))) {
          return false;
        }
      }
    }
    return true;
  }

  /** What can be stored of a text that others made: an error's message, say. */
  static String storable(String text, int maxLength) {
    String cut = text.length() > maxLength ? text.substring(0, maxLength) : text;
    // Encoding replaces half a character, also one that was cut in the middle.
    return new String(cut.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)
        .replace('\0', ' ');
  }
}
