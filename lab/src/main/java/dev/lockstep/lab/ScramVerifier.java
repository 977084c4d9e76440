package dev.lockstep.lab;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * A password's SCRAM verifier, as PostgreSQL stores it (RFC 5803). Sent in place of the password,
 * so that no statement and no log contains it.
 */
final class ScramVerifier {
  private static final int ITERATIONS = 4096;
  private static final int KEY_BITS = 256;
  private static final int SALT_BYTES = 16;

  private ScramVerifier() {}

  /**
   * @param password ASCII
   */
  static String of(String password, SecureRandom random) {
    byte[] salt = new byte[SALT_BYTES];
    random.nextBytes(salt);
    try {
      byte[] salted =
          SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
              .generateSecret(new PBEKeySpec(password.toCharArray(), salt, ITERATIONS, KEY_BITS))
              .getEncoded();
      byte[] storedKey = MessageDigest.getInstance("SHA-256").digest(hmac(salted, "Client Key"));
      byte[] serverKey = hmac(salted, "Server Key");
      return "SCRAM-SHA-256$%d:%s$%s:%s"
          .formatted(ITERATIONS, text(salt), text(storedKey), text(serverKey));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every Java platform has these", e);
    }
  }

  private static byte[] hmac(byte[] key, String message) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(message.getBytes(US_ASCII));
  }

  private static String text(byte[] content) {
    return Base64.getEncoder().encodeToString(content);
  }
}
