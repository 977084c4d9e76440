package dev.lockstep.job;

import java.io.Reader;
import java.util.Iterator;
import java.util.function.Function;

/** Rows in COPY's text format, made as they are read. */
final class CopyRows<T> extends Reader {
  private final Iterator<T> rows;
  private final Function<T, String> format;
  private String current = "";
  private int position;

  CopyRows(Iterator<T> rows, Function<T, String> format) {
    this.rows = rows;
    this.format = format;
  }

  @Override
  public int read(char[] buffer, int offset, int length) {
    int read = 0;
    while (read < length) {
      if (position == current.length()) {
        if (!rows.hasNext()) {
          break;
        }
        current = format.apply(rows.next());
        position = 0;
      }
      int part = Math.min(length - read, current.length() - position);
      current.getChars(position, position + part, buffer, offset + read);
      position += part;
      read += part;
    }
    return read == 0 && length > 0 ? -1 : read;
  }

  /** A value, with what ends a value or a row escaped. */
  static String escape(String value) {
    StringBuilder escaped = new StringBuilder(value.length() + 16);
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '\\' -> escaped.append("\\\\");
        case '\t' -> escaped.append("\\t");
        case '\n' -> escaped.append("\\n");
        case '\r' -> escaped.append("\\r");
        default -> escaped.append(c);
      }
    }
    return escaped.toString();
  }

  @Override
  public void close() {}
}
