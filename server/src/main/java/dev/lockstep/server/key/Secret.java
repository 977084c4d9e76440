package dev.lockstep.server.key;

import dev.lockstep.sql.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;

/** A key in clear text. It is never logged: {@link #toString()} shows only its first letters. */
public final class Secret {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int RANDOM_BYTES = 32;
  private static final String MARK = "lsk_";
  private static final int SHOWN = 10;

  private final String value;

  private Secret(String value) {
    this.value = value;
  }

  public static Secret of(String value) {
    return new Secret(value);
  }

  /** Starts with a recognisable prefix, so that scanners find keys committed by mistake. */
  static Secret random() {
    byte[] bytes = new byte[RANDOM_BYTES];
    RANDOM.nextBytes(bytes);
    return new Secret(MARK + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
  }

  /** The key itself, to show to its owner once. */
  public String reveal() {
    return value;
  }

  /**
   * Enough to tell keys apart, too little to guess the rest: a generated key has 37 more
   * characters.
   */
  String prefix() {
    return value.substring(0, Math.min(SHOWN, value.length() / 2));
  }

  byte[] hash() {
    return Sha256.of(value.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String toString() {
    return prefix() + "…";
  }
}
