package dev.lockstep.ledger;

/** What a name must be so that the database stores it as it is and finds it again. */
final class Names {
  private Names() {}

  /**
   * @throws IllegalArgumentException for a blank or too long name, NUL, or half of a surrogate pair
   *     (which would be stored as a question mark, as if it were another name)
   */
  static void requireStorable(String what, String name, int maxLength) {
    if (name.isBlank() || name.length() > maxLength || hasUnstorable(name)) {
      throw new IllegalArgumentException(
          "%s is 1 to %d characters, without NUL and half pairs".formatted(what, maxLength));
    }
  }

  private static boolean hasUnstorable(String name) {
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean pair = i + 1 < name.length() && Character.isSurrogatePair(c, name.charAt(i + 1));
      if (pair) {
        i++;
      } else if (c == 0 || Character.isSurrogate(c)) {
        return true;
      }
    }
    return false;
  }
}
