package dev.lockstep.gateway;

import java.security.SecureRandom;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ids as Stripe writes them, a prefix and 24 letters and digits. The first eight are the time, so
 * that indexes grow at their end and a listing by id is one by age.
 */
final class GatewayIds {
  private static final String DIGITS =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  private static final int TIME_DIGITS = 8;
  private static final int RANDOM_DIGITS = 16;
  private static final int SECRET_DIGITS = 24;
  private static final SecureRandom SECRETS = new SecureRandom();

  private GatewayIds() {}

  static String next(String prefix) {
    StringBuilder id = new StringBuilder(prefix.length() + TIME_DIGITS + RANDOM_DIGITS);
    id.append(prefix).append(time(System.currentTimeMillis()));
    // Ids need only be unique; what must not be guessed is made by secret().
    ThreadLocalRandom random = ThreadLocalRandom.current();
    for (int i = 0; i < RANDOM_DIGITS; i++) {
      id.append(DIGITS.charAt(random.nextInt(DIGITS.length())));
    }
    return id.toString();
  }

  /** Sorts before every id that was made then or later. */
  static String since(String prefix, Instant at) {
    return prefix + time(Math.max(0, at.toEpochMilli()));
  }

  private static String time(long millis) {
    long left = millis;
    char[] time = new char[TIME_DIGITS];
    for (int i = TIME_DIGITS - 1; i >= 0; i--) {
      time[i] = DIGITS.charAt((int) (left % DIGITS.length()));
      left /= DIGITS.length();
    }
    return new String(time);
  }

  /** The part of a client secret that follows the intent's id: 140 bits nobody can guess. */
  static String secret() {
    byte[] bytes = new byte[SECRET_DIGITS];
    SECRETS.nextBytes(bytes);
    StringBuilder secret = new StringBuilder("_secret_");
    for (byte b : bytes) {
      secret.append(DIGITS.charAt(Byte.toUnsignedInt(b) % DIGITS.length()));
    }
    return secret.toString();
  }
}
