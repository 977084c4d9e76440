package dev.lockstep.gateway;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The header that proves to the receiver that an event is ours, and when it was sent. */
final class Signature {
  static final String HEADER = "Stripe-Signature";

  private static final String ALGORITHM = "HmacSHA256";

  private Signature() {}

  /** {@code t=<seconds>,v1=<hex of HMAC-SHA256 over "seconds.body">}. */
  static String of(String body, String secret, Instant sentAt) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM));
      String signed = sentAt.getEpochSecond() + "." + body;
      byte[] digest = mac.doFinal(signed.getBytes(StandardCharsets.UTF_8));
      return "t=" + sentAt.getEpochSecond() + ",v1=" + HexFormat.of().formatHex(digest);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has " + ALGORITHM, e);
    }
  }
}
