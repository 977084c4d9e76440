package dev.lockstep.server.delivery;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The headers that prove origin, integrity and time of a request. They carry one signature per
 * secret: during a rotation, receivers may know either.
 */
final class Signature {
  private static final String ALGORITHM = "HmacSHA256";

  private Signature() {}

  /**
   * The Standard Webhooks form: {@code v1,} and the Base64 of HMAC-SHA256 over "id.seconds.body",
   * several separated by spaces.
   *
   * @param id identifies the message, the same at every attempt; without a dot
   */
  static Map<String, String> standard(
      String id, byte[] body, List<ReceiverSecret> secrets, Instant sentAt) {
    byte[] signed = joined(id + "." + sentAt.getEpochSecond() + ".", body);
    String signatures =
        secrets.stream()
            .map(secret -> "v1," + Base64.getEncoder().encodeToString(hmac(secret.key(), signed)))
            .collect(Collectors.joining(" "));
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("webhook-id", id);
    headers.put("webhook-timestamp", Long.toString(sentAt.getEpochSecond()));
    headers.put("webhook-signature", signatures);
    return headers;
  }

  /** {@code t=<seconds>,v1=<hex of HMAC-SHA256 over "seconds.body">}, one {@code v1} per secret. */
  static Map<String, String> lockstep(byte[] body, List<ReceiverSecret> secrets, Instant sentAt) {
    byte[] signed = joined(sentAt.getEpochSecond() + ".", body);
    StringBuilder header = new StringBuilder("t=" + sentAt.getEpochSecond());
    for (ReceiverSecret secret : secrets) {
      byte[] key = secret.lockstepText().getBytes(StandardCharsets.UTF_8);
      header.append(",v1=").append(HexFormat.of().formatHex(hmac(key, signed)));
    }
    return Map.of("Lockstep-Signature", header.toString());
  }

  private static byte[] joined(String prefix, byte[] body) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(prefix.getBytes(StandardCharsets.UTF_8));
    all.writeBytes(body);
    return all.toByteArray();
  }

  static byte[] hmac(byte[] key, byte[] signed) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return mac.doFinal(signed);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every Java platform has " + ALGORITHM, e);
    }
  }
}
