package dev.lockstep.server.birthday;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** How a receiver knows that a delivery is genuine and fresh. To be copied. */
final class SignedDelivery {
  private SignedDelivery() {}

  // snippet: verify
  private static final Duration TOLERANCE = Duration.ofMinutes(5);

  /**
   * @param header the header Lockstep-Signature: t=seconds,v1=hex, or several v1
   * @param body the bytes as they arrived, before anything has parsed them
   */
  static boolean isGenuine(String secret, String header, byte[] body, Instant now) {
    String[] parts = header.split(",", -1);
    if (!parts[0].matches("t=\\d{1,12}")) {
      return false;
    }
    String sentAt = parts[0].substring(2);
    Duration age = Duration.between(Instant.ofEpochSecond(Long.parseLong(sentAt)), now);
    if (age.abs().compareTo(TOLERANCE) > 0) {
      return false; // an old request, sent again by somebody else
    }
    byte[] expected = ("v1=" + hmac(secret, sentAt + ".", body)).getBytes(StandardCharsets.UTF_8);
    for (String part : parts) {
      // Compares in the same time wherever they differ.
      if (MessageDigest.isEqual(expected, part.getBytes(StandardCharsets.UTF_8))) {
        return true;
      }
    }
    return false;
  }

  private static String hmac(String secret, String prefix, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      mac.update(prefix.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(mac.doFinal(body));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
  // end: verify
}
