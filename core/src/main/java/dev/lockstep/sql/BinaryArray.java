package dev.lockstep.sql;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.UUID;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * An array in PostgreSQL's binary format, for element types that the driver sends only as text.
 *
 * @param oid of the array type; these oids never change
 */
@SuppressWarnings("ArrayRecordComponent") // On its way to the driver; never compared.
record BinaryArray(int oid, byte[] bytes) {
  private static final int UUID_OID = 2950;
  private static final int UUID_ARRAY_OID = 2951;
  private static final int TID_OID = 27;
  private static final int TID_ARRAY_OID = 1010;
  private static final int UUID_BYTES = 16;
  private static final int TID_BYTES = 6;

  /** Null if this class does not encode the type. */
  static @Nullable BinaryArray of(SqlArray array) {
    if (array.type().equals("uuid") && array.values() instanceof UUID[] ids) {
      return new BinaryArray(UUID_ARRAY_OID, encode(UUID_OID, UUID_BYTES, ids, BinaryArray::put));
    }
    if (array.type().equals("tid") && array.values() instanceof Ctid[] places) {
      return new BinaryArray(TID_ARRAY_OID, encode(TID_OID, TID_BYTES, places, BinaryArray::put));
    }
    return null;
  }

  private static <T> byte[] encode(
      int elementOid, int size, @Nullable T[] values, BiConsumer<ByteBuffer, T> put) {
    if (values.length == 0) {
      // An empty array has no dimension.
      return ByteBuffer.allocate(12).putInt(0).putInt(0).putInt(elementOid).array();
    }
    int nulls = (int) Arrays.stream(values).filter(Objects::isNull).count();
    ByteBuffer out =
        ByteBuffer.allocate(20 + 4 * values.length + size * (values.length - nulls))
            .putInt(1) // dimension
            .putInt(nulls > 0 ? 1 : 0)
            .putInt(elementOid)
            .putInt(values.length)
            .putInt(1); // first index
    for (T value : values) {
      if (value == null) {
        out.putInt(-1);
      } else {
        out.putInt(size);
        put.accept(out, value);
      }
    }
    return out.array();
  }

  private static void put(ByteBuffer out, UUID id) {
    out.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
  }

  private static void put(ByteBuffer out, Ctid place) {
    out.putInt(place.block()).putShort(place.offset());
  }
}
