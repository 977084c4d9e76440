package dev.lockstep.server.delivery;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The header that proves to a receiver that a delivery is ours, whole, and when it was sent. */
final class Signature {
  static final String HEADER = "Lockstep-Signature";

  private static final String ALGORITHM = "HmacSHA256";

  private Signature() {}

  /**
   * {@code t=<seconds>,v1=<hex of HMAC-SHA256 over "seconds.body">}, with a {@code v1} for each
   * secret: while one replaces another, receivers may know either.
   */
  static String of(byte[] body, List<String> secrets, Instant sentAt) {
    StringBuilder header = new StringBuilder("t=" + sentAt.getEpochSecond());
    for (String secret : secrets) {
      Mac mac = mac(secret.getBytes(StandardCharsets.UTF_8));
      mac.update((sentAt.getEpochSecond() + ".").getBytes(StandardCharsets.UTF_8));
      header.append(",v1=").append(HexFormat.of().formatHex(mac.doFinal(body)));
    }
    return header.toString();
  }

  static Mac mac(byte[] key) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every Java platform has " + ALGORITHM, e);
    }
  }
}
