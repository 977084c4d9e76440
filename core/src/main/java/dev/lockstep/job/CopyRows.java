package dev.lockstep.job;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Iterator;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Streams rows in COPY's binary format, encoded as they are read. Binary needs no escaping here and
 * no parsing on the server.
 */
final class CopyRows<T> extends InputStream {
  private static final byte[] HEADER = {
    'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xFF, '\r', '\n', 0, 0, 0, 0, 0, 0, 0, 0, 0
  };
  private static final long POSTGRES_EPOCH_SECONDS =
      Instant.parse("2000-01-01T00:00:00Z").getEpochSecond();

  private final Iterator<T> rows;
  private final Format<T> format;
  private byte[] buffer = Arrays.copyOf(HEADER, 1 << 16);
  private int position;
  private int filled = HEADER.length;
  private boolean ended;

  /** Writes one row: {@link #row}, then its fields in order. */
  @FunctionalInterface
  interface Format<T> {
    void write(T row, CopyRows<T> out);
  }

  CopyRows(Iterator<T> rows, Format<T> format) {
    this.rows = rows;
    this.format = format;
  }

  /** Begins a row with this number of fields. */
  CopyRows<T> row(int fields) {
    room(2);
    putShort(fields);
    return this;
  }

  CopyRows<T> smallint(int value) {
    room(6);
    putInt(2);
    putShort(value);
    return this;
  }

  CopyRows<T> uuid(UUID value) {
    room(20);
    putInt(16);
    putLong(value.getMostSignificantBits());
    putLong(value.getLeastSignificantBits());
    return this;
  }

  CopyRows<T> text(String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    room(4 + bytes.length);
    putInt(bytes.length);
    System.arraycopy(bytes, 0, buffer, filled, bytes.length);
    filled += bytes.length;
    return this;
  }

  /** Rounds to the nearest microsecond, as the server would. */
  CopyRows<T> timestamp(Instant value) {
    room(12);
    putInt(8);
    putLong(
        (value.getEpochSecond() - POSTGRES_EPOCH_SECONDS) * 1_000_000
            + (value.getNano() + 500) / 1_000);
    return this;
  }

  CopyRows<T> nothing() {
    room(4);
    putInt(-1);
    return this;
  }

  CopyRows<T> textOrNothing(@Nullable String value) {
    return value == null ? nothing() : text(value);
  }

  private void room(int bytes) {
    if (buffer.length - filled < bytes) {
      buffer = Arrays.copyOf(buffer, Math.max(2 * buffer.length, filled + bytes));
    }
  }

  private void putShort(int value) {
    buffer[filled++] = (byte) (value >>> 8);
    buffer[filled++] = (byte) value;
  }

  private void putInt(int value) {
    putShort(value >>> 16);
    putShort(value);
  }

  private void putLong(long value) {
    putInt((int) (value >>> 32));
    putInt((int) value);
  }

  /** Encodes the next row if the buffer is empty; false at the end. */
  private boolean fill() {
    if (position < filled) {
      return true;
    }
    position = 0;
    filled = 0;
    if (rows.hasNext()) {
      format.write(rows.next(), this);
    } else if (!ended) {
      ended = true;
      room(2);
      putShort(-1);
    }
    return filled > 0;
  }

  @Override
  public int read() {
    return fill() ? buffer[position++] & 0xFF : -1;
  }

  @Override
  public int read(byte[] into, int offset, int length) {
    int read = 0;
    while (read < length && fill()) {
      int part = Math.min(length - read, filled - position);
      System.arraycopy(buffer, position, into, offset + read, part);
      position += part;
      read += part;
    }
    return read == 0 && length > 0 ? -1 : read;
  }
}
