package dev.lockstep.server.payment;

import dev.lockstep.server.payment.Verification.Forged;
import dev.lockstep.server.payment.Verification.FromTheFuture;
import dev.lockstep.server.payment.Verification.Genuine;
import dev.lockstep.server.payment.Verification.Malformed;
import dev.lockstep.server.payment.Verification.TooOld;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Tells genuine webhooks from forged and replayed ones. Stateless: the caller ensures that an event
 * id is used once, in the transaction of its effect.
 */
public final class WebhookVerifier {
  /** How far the sender's clock and ours may differ, in both directions. */
  public static final Duration TOLERANCE = Duration.ofMinutes(5);

  private static final String ALGORITHM = "HmacSHA256";
  private static final int MAX_HEADER_LENGTH = 2_048;

  private WebhookVerifier() {}

  /**
   * Checks the signature of the bytes as they arrived, then its age.
   *
   * @param signatureHeader the {@code Stripe-Signature} header; null if there was none
   */
  public static Verification verify(
      byte[] rawBody, @Nullable String signatureHeader, String secret, Instant now) {
    Optional<Signed> parsed = Signed.parse(signatureHeader);
    if (parsed.isEmpty()) {
      return new Malformed("no usable signature header");
    }
    Signed signed = parsed.get();
    if (!signed.matches(hmac(secret, signed.timestamp(), rawBody))) {
      return new Forged();
    }
    Duration age = Duration.ofSeconds(now.getEpochSecond() - signed.seconds());
    if (age.compareTo(TOLERANCE) > 0) {
      return new TooOld(age);
    }
    if (age.negated().compareTo(TOLERANCE) > 0) {
      return new FromTheFuture(age.negated());
    }
    return PaymentEvent.parse(rawBody)
        .<Verification>map(Genuine::new)
        .orElseGet(() -> new Malformed("signed, but not an event"));
  }

  private static byte[] hmac(String secret, String timestamp, byte[] rawBody) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM));
      mac.update(timestamp.getBytes(StandardCharsets.UTF_8));
      mac.update((byte) '.');
      return mac.doFinal(rawBody);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has " + ALGORITHM, e);
    }
  }

  /**
   * The parsed header: {@code t=1700000000,v1=hex,v1=hex}. Several signatures belong to several
   * secrets during a rotation; other schemes are ignored.
   */
  private record Signed(String timestamp, long seconds, List<byte[]> signatures) {

    static Optional<Signed> parse(@Nullable String header) {
      if (header == null || header.length() > MAX_HEADER_LENGTH) {
        return Optional.empty();
      }
      String timestamp = null;
      List<byte[]> signatures = new ArrayList<>();
      try {
        for (String item : header.split(",", -1)) {
          int equals = item.indexOf('=');
          String name = equals < 0 ? item : item.substring(0, equals).strip();
          String value = equals < 0 ? "" : item.substring(equals + 1).strip();
          if (name.equals("t")) {
            timestamp = value;
          } else if (name.equals("v1")) {
            signatures.add(HexFormat.of().parseHex(value));
          }
        }
        if (timestamp == null || signatures.isEmpty()) {
          return Optional.empty();
        }
        return Optional.of(new Signed(timestamp, Long.parseLong(timestamp), signatures));
      } catch (IllegalArgumentException e) {
        return Optional.empty();
      }
    }

    /** Takes constant time, so that it does not reveal how much of a signature was right. */
    boolean matches(byte[] expected) {
      boolean found = false;
      for (byte[] signature : signatures) {
        found |= MessageDigest.isEqual(signature, expected);
      }
      return found;
    }
  }
}
