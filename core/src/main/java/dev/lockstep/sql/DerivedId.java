package dev.lockstep.sql;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.UUID;

/**
 * Derives ids from text, the same in every process and version: SHA-256 as a version 8 UUID.
 *
 * <p>The ids form two spaces that never meet. A client that chooses owner and key can reach only
 * {@link #forKey}. {@link #forPurpose} starts with a length that no owner has, and prefixes every
 * part with its length.
 */
public final class DerivedId {
  /** Takes the place of the owner's length. */
  private static final int PURPOSE = -1;

  private DerivedId() {}

  /**
   * Returns the id of a key that a client chose.
   *
   * @throws IllegalArgumentException if a text contains an unpaired surrogate
   */
  public static UUID forKey(String owner, String key) {
    MessageDigest digest = Sha256.digest();
    addDelimited(digest, owner);
    digest.update(utf8(key));
    return id(digest);
  }

  /**
   * Returns an id for a program's own use. No client key, other purpose or other parts yield the
   * same id.
   *
   * @throws IllegalArgumentException if a text contains an unpaired surrogate
   */
  public static UUID forPurpose(String purpose, String... parts) {
    MessageDigest digest = Sha256.digest();
    addLength(digest, PURPOSE);
    addDelimited(digest, purpose);
    for (String part : parts) {
      addDelimited(digest, part);
    }
    return id(digest);
  }

  /**
   * Encodes text as UTF-8 and never replaces a character.
   *
   * @throws IllegalArgumentException if the text contains an unpaired surrogate
   */
  public static ByteBuffer utf8(String text) {
    try {
      return StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(
          "The text contains an unpaired surrogate; send valid Unicode", e);
    }
  }

  /**
   * Adds text to a hash, after its length.
   *
   * @throws IllegalArgumentException if the text contains an unpaired surrogate
   */
  public static void addDelimited(MessageDigest digest, String text) {
    ByteBuffer bytes = utf8(text);
    addLength(digest, bytes.remaining());
    digest.update(bytes);
  }

  private static void addLength(MessageDigest digest, int length) {
    digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(length).array());
  }

  private static UUID id(MessageDigest digest) {
    ByteBuffer hash = ByteBuffer.wrap(digest.digest());
    long high = (hash.getLong() & ~0xF000L) | 0x8000L;
    long low = (hash.getLong() >>> 2) | 0x8000_0000_0000_0000L;
    return new UUID(high, low);
  }
}
