package dev.lockstep.server.api;

import dev.lockstep.sql.StorableText;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.function.Function;
import java.util.zip.CRC32;

/**
 * The place in a list behind which the next page begins, as clients carry it about. It names the
 * list, so that one that was made up, cut short or taken from another list is refused instead of
 * answered with the wrong page or none.
 */
final class PageCursor {
  private static final int CHECK_BYTES = 4;

  private PageCursor() {}

  /**
   * @param list the path of the list, with its parameters in braces
   * @param item what the list knows the item by
   */
  static String encode(String list, String item) {
    byte[] text = item.getBytes(StandardCharsets.UTF_8);
    byte[] bytes =
        ByteBuffer.allocate(CHECK_BYTES + text.length).putInt(check(list, text)).put(text).array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /** Empty if it is none of this list's. */
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
   * Against mistakes, not against forgery: a cursor gives nobody more than the list does. So each
   * list still reads what it gets with {@link Page#after(Function)}.
   */
  private static int check(String list, byte[] text) {
    CRC32 sum = new CRC32();
    sum.update(list.getBytes(StandardCharsets.UTF_8));
    sum.update(0);
    sum.update(text);
    return (int) sum.getValue();
  }
}
