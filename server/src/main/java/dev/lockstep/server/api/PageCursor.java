package dev.lockstep.server.api;

import dev.lockstep.sql.StorableText;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.function.Function;
import java.util.zip.CRC32;

/**
 * The position after which the next page starts, in the form that clients carry. It names its list,
 * so an invented, truncated or foreign cursor is refused instead of answered with the wrong page.
 */
final class PageCursor {
  private static final int CHECK_BYTES = 4;

  private PageCursor() {}

  /**
   * @param list the path of the list, with its filters
   * @param item the list's name for the item
   */
  static String encode(String list, String item) {
    byte[] text = item.getBytes(StandardCharsets.UTF_8);
    byte[] bytes =
        ByteBuffer.allocate(CHECK_BYTES + text.length).putInt(check(list, text)).put(text).array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /** Empty if the cursor is not of this list. */
  static Optional<String> decode(String list, String cursor) {
    byte[] bytes;
    try {
      bytes = Base64.getUrlDecoder().decode(cursor);
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
    if (bytes.length <= CHECK_BYTES) {
      return Optional.empty();
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    int check = buffer.getInt();
    byte[] text = new byte[buffer.remaining()];
    buffer.get(text);
    return check == check(list, text)
        ? Utf8.decode(text).filter(StorableText::is)
        : Optional.empty();
  }

  /**
   * Guards against mistakes, not forgery: a cursor grants nothing beyond the list. Each list still
   * validates what it gets through {@link Page#after(Function)}.
   */
  private static int check(String list, byte[] text) {
    CRC32 sum = new CRC32();
    sum.update(list.getBytes(StandardCharsets.UTF_8));
    sum.update(0);
    sum.update(text);
    return (int) sum.getValue();
  }
}
