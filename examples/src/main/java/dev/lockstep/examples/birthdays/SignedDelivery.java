package dev.lockstep.examples.birthdays;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Checks that a delivery is genuine and fresh. Copy it where no Standard Webhooks library exists.
 */
final class SignedDelivery {
  private SignedDelivery() {}

  // snippet: verify
  private static final Duration TOLERANCE = Duration.ofMinutes(5);

  /**
   * @param secret as the server shows it: whsec_ and Base64
   * @param id the header webhook-id
   * @param timestamp the header webhook-timestamp
   * @param signatures the header webhook-signature: v1,Base64, or several with spaces between
   * @param body the bytes as they arrived, before anything has parsed them
   */
  static boolean isGenuine(
      String secret, String id, String timestamp, String signatures, byte[] body, Instant now) {
    if (!timestamp.matches("\\d{1,12}")) {
      return false;
    }
    Duration age = Duration.between(Instant.ofEpochSecond(Long.parseLong(timestamp)), now);
    if (age.abs().compareTo(TOLERANCE) > 0) {
      return false; // an old request, sent again by somebody else
    }
    byte[] key = Base64.getDecoder().decode(secret.substring("whsec_".length()));
    byte[] expected = ("v1," + hmac(key, id + "." + timestamp + ".", body)).getBytes(UTF_8);
    for (String one : signatures.split(" ", -1)) {
      // Compares in the same time wherever they differ.
      if (MessageDigest.isEqual(expected, one.getBytes(UTF_8))) {
        return true;
      }
    }
    return false;
  }

  private static String hmac(byte[] key, String prefix, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update(prefix.getBytes(UTF_8));
      return Base64.getEncoder().encodeToString(mac.doFinal(body));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
  // end: verify
}
