package dev.lockstep.tx;

import java.util.Comparator;

/**
 * The one order in which rows with text in their key are locked: by code point, which is the order
 * of their bytes in UTF-8. It is not the order of {@link String#compareTo}, which goes by UTF-16,
 * and not that of the database, whose collation whoever made it has chosen. Where two statements
 * disagree on it, their transactions deadlock.
 */
public final class LockOrder {
  /** For what is sorted here and locked in the order it is sent. */
  public static final Comparator<String> TEXT = LockOrder::compare;

  /** For what the database sorts: {@code ORDER BY buyer COLLATE "C" FOR UPDATE}. */
  public static final String COLLATION = "COLLATE \"C\"";

  private LockOrder() {}

  private static int compare(String a, String b) {
    int length = Math.min(a.length(), b.length());
    for (int i = 0; i < length; i++) {
      char x = a.charAt(i);
      char y = b.charAt(i);
      if (x != y) {
        // Half a character is of one beyond U+FFFF, and so after any that is whole.
        return Character.isSurrogate(x) == Character.isSurrogate(y)
            ? Character.compare(x, y)
            : Boolean.compare(Character.isSurrogate(x), Character.isSurrogate(y));
      }
    }
    return Integer.compare(a.length(), b.length());
  }
}
