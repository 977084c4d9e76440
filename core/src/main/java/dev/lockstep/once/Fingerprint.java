package dev.lockstep.once;

import dev.lockstep.sql.DerivedId;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/** SHA-256 of a request: tells a repetition from another request with the same key. */
public final class Fingerprint {
  private final byte[] sha256;

  private Fingerprint(byte[] sha256) {
    this.sha256 = sha256;
  }

  /**
   * Hashes the parts of a request (method, route, body); the boundaries between parts count.
   *
   * @throws IllegalArgumentException if a part contains an unpaired surrogate
   */
  public static Fingerprint of(String... parts) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (String part : parts) {
        ByteBuffer bytes = DerivedId.utf8(part);
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.remaining()).array());
        digest.update(bytes);
      }
      return new Fingerprint(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256", e);
    }
  }

  static Fingerprint stored(byte[] sha256) {
    return new Fingerprint(sha256);
  }

  byte[] bytes() {
    return sha256.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Fingerprint that && Arrays.equals(sha256, that.sha256);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(sha256);
  }

  @Override
  public String toString() {
    return HexFormat.of().formatHex(sha256);
  }
}
