package dev.lockstep.tx;

import java.nio.ByteBuffer;

/**
 * Where a row was in its table: {@code ctid}. It may have moved since, and another may be there.
 *
 * @param block as an unsigned number
 * @param offset as an unsigned number
 */
public record RowPlace(int block, short offset) {
  /** The column of a query that {@link #of} reads: cheaper for both sides than its text. */
  public static String column(String table) {
    return "tidsend(" + table + ".ctid)";
  }

  public static RowPlace of(byte[] sent) {
    ByteBuffer bytes = ByteBuffer.wrap(sent);
    return new RowPlace(bytes.getInt(), bytes.getShort());
  }

  @Override
  public String toString() {
    return "(%s,%d)".formatted(Integer.toUnsignedString(block), Short.toUnsignedInt(offset));
  }
}
