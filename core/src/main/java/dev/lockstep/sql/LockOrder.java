package dev.lockstep.sql;

import java.util.Comparator;

/**
 * The one order in which transactions lock rows: kind by kind as in {@link RowKind}, and within a
 * kind by key. Transactions that lock in one order cannot deadlock.
 *
 * <p>Text keys are ordered by code point, which equals the order of their UTF-8 bytes. {@link
 * String#compareTo} differs, because it compares UTF-16 units; the database's default collation
 * differs, because its creator chose it. Two statements that disagree on the order deadlock their
 * transactions.
 */
public final class LockOrder {
  /**
   * What is locked, in lock order. A new row needs no place: only an insert of the same key can
   * wait for it, and the two transactions already meet at the first row that both lock.
   */
  public enum RowKind {
    /**
     * A claimed idempotency key. One that a companion records in bulk comes after {@link #ACCOUNT}:
     * it is a new row, or its other writer has met the batch at a hold or a transfer.
     */
    ONCE("once"),
    HOLD("hold"),
    POOL("pool"),
    /** Covered by the lock of its pool, so it may also be locked any time after that. */
    UNIT("unit"),
    QUOTA("quota"),
    ACCOUNT("account"),
    OUTBOX_KEY("outbox key"),
    /** Jobs, and the rows of their unique keys. */
    JOB("job");

    private final String word;

    RowKind(String word) {
      this.word = word;
    }

    /** As documents name it. */
    public String word() {
      return word;
    }
  }

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
