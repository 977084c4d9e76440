package dev.lockstep.sql;

import java.util.Comparator;

/**
 * The order in which rows with text keys are locked: by code point, which equals the order of their
 * UTF-8 bytes. {@link String#compareTo} differs, because it compares UTF-16 units; the database's
 * default collation differs, because its creator chose it. Two statements that disagree on the
 * order deadlock their transactions.
 */
public final class LockOrder {
  /** For keys that Java sorts, when the rows are locked in the order they are sent. */
  public static final Comparator<String> TEXT = LockOrder::compare;

  /** For keys that the database sorts: {@code ORDER BY buyer COLLATE "C" FOR UPDATE}. */
  public static final String COLLATION = "COLLATE \"C\"";

  private LockOrder() {}

  private static int compare(String a, String b) {
    int length = Math.min(a.length(), b.length());
    for (int i = 0; i < length; i++) {
      char x = a.charAt(i);
      char y = b.charAt(i);
      if (x != y) {
        // A surrogate is part of a character beyond U+FFFF, so it sorts after any other char.
        return Character.isSurrogate(x) == Character.isSurrogate(y)
            ? Character.compare(x, y)
            : Boolean.compare(Character.isSurrogate(x), Character.isSurrogate(y));
      }
    }
    return Integer.compare(a.length(), b.length());
  }
}
