package dev.lockstep.once;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Text that is the same before and after the database. Half a character (an unpaired surrogate) is
 * not: it would be stored as a question mark, and two keys could become one.
 */
final class Text {
  private Text() {}

  static boolean isStorable(String text) {
    return text.indexOf('\0') < 0 && StandardCharsets.UTF_8.newEncoder().canEncode(text);
  }

  /**
   * As bytes, never replacing anything.
   *
   * @throws IllegalArgumentException for half a character
   */
  static ByteBuffer utf8(String text) {
    try {
      return StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("The text has half a character in it", e);
    }
  }
}
