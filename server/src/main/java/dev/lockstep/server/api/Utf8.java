package dev.lockstep.server.api;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Decodes UTF-8 strictly: invalid input is reported, not replaced. */
final class Utf8 {
  private Utf8() {}

  static Optional<String> decode(byte[] bytes) {
    try {
      return Optional.of(
          StandardCharsets.UTF_8
              .newDecoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .onUnmappableCharacter(CodingErrorAction.REPORT)
              .decode(ByteBuffer.wrap(bytes))
              .toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  /**
   * Decodes part of a URL; empty if its percent-encoding or its UTF-8 is invalid.
   *
   * @param plusIsSpace as in a query
   */
  static Optional<String> decodeUrl(String part, boolean plusIsSpace) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(part.length());
    for (int i = 0; i < part.length(); i++) {
      char c = part.charAt(i);
      if (c == '%') {
        boolean whole = i + 2 < part.length();
        int high = whole ? Character.digit(part.charAt(i + 1), 16) : -1;
        int low = whole ? Character.digit(part.charAt(i + 2), 16) : -1;
        if (high < 0 || low < 0) {
          return Optional.empty();
        }
        bytes.write(high * 16 + low);
        i += 2;
      } else if (c > 0xff) {
        return Optional.empty();
      } else {
        // Anything but ASCII came as a raw byte of the request line.
        bytes.write(c == '+' && plusIsSpace ? ' ' : c);
      }
    }
    return decode(bytes.toByteArray());
  }
}
