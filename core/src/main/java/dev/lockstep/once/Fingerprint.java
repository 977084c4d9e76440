package dev.lockstep.once;

import dev.lockstep.sql.DerivedId;
import dev.lockstep.sql.Sha256;
import java.security.MessageDigest;
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
    MessageDigest digest = Sha256.digest();
    for (String part : parts) {
      DerivedId.addDelimited(digest, part);
    }
    return new Fingerprint(digest.digest());
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
