package dev.lockstep.server.mail;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.StringJoiner;

/** Encoded words (RFC 2047), to escape text that readers would mistake for them. */
final class EncodedWords {
  private static final String BEGIN = "=?";

  /** An encoded word has at most 75 characters, of which 60 encode 45 bytes. */
  private static final int BYTES_PER_WORD = 45;

  private EncodedWords() {}

  /**
   * A subject that readers see exactly as given. The mail client encodes non-ASCII text as a whole.
   */
  static String subject(String text) {
    if (!text.contains(BEGIN) || !StandardCharsets.US_ASCII.newEncoder().canEncode(text)) {
      return text;
    }
    // Readers drop the space between two encoded words.
    StringJoiner words = new StringJoiner(" ");
    for (int from = 0; from < text.length(); from += BYTES_PER_WORD) {
      String part = text.substring(from, Math.min(text.length(), from + BYTES_PER_WORD));
      byte[] bytes = part.getBytes(StandardCharsets.US_ASCII);
      words.add("=?UTF-8?B?" + Base64.getEncoder().encodeToString(bytes) + "?=");
    }
    return words.toString();
  }
}
