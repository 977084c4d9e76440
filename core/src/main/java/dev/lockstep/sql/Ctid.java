package dev.lockstep.sql;

import java.nio.ByteBuffer;

/**
 * A row's place in its table: {@code ctid}. The row may have moved since, and another may be there.
 *
 * @param block as an unsigned number
 * @param offset as an unsigned number
 */
public record Ctid(int block, short offset) {
  /** The query column that {@link #of} reads; cheaper for both sides than the text form. */
  public static String column(String table) {
    return "tidsend(" + table + ".ctid)";
  }

  public static Ctid of(byte[] sent) {
    ByteBuffer bytes = ByteBuffer.wrap(sent);
    return new Ctid(bytes.getInt(), bytes.getShort());
  }

  @Override
  public String toString() {
    return "(%s,%d)".formatted(Integer.toUnsignedString(block), Short.toUnsignedInt(offset));
  }
}
