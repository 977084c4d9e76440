package dev.lockstep.tx;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/**
 * Ids made of text, the same in every process and version: SHA-256 as a UUID of version 8.
 *
 * <p>There are two spaces, which never meet. Whoever chooses owner and key reaches {@link #forKey},
 * and nothing else. {@link #forPurpose} begins with a length that no owner has, and every part says
 * how long it is.
 */
public final class DerivedId {
  /** In place of the length of an owner. */
  private static final int PURPOSE = -1;

  private DerivedId() {}

  /**
   * The id of a key that a client chose.
   *
   * @throws IllegalArgumentException for half a character (an unpaired surrogate)
   */
  public static UUID forKey(String owner, String key) {
    MessageDigest digest = sha256();
    addDelimited(digest, owner);
    digest.update(utf8(key));
    return id(digest);
  }

  /**
   * An id that a program makes for itself: no owner and key, and no other purpose, has the same.
   *
   * @throws IllegalArgumentException for half a character (an unpaired surrogate)
   */
  public static UUID forPurpose(String purpose, String... parts) {
    MessageDigest digest = sha256();
    addLength(digest, PURPOSE);
    addDelimited(digest, purpose);
    for (String part : parts) {
      addDelimited(digest, part);
    }
    return id(digest);
  }

  /**
   * As bytes, never replacing anything.
   *
   * @throws IllegalArgumentException for half a character (an unpaired surrogate)
   */
  public static ByteBuffer utf8(String text) {
    try {
      return StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("The text has half a character in it", e);
    }
  }

  private static void addDelimited(MessageDigest digest, String text) {
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

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256", e);
    }
  }
}
