package dev.lockstep.server.payment;

/**
 * Makes a request to the provider safe to repeat: one key per attempt, and the same key each time
 * it is sent. The provider remembers it for 24 hours.
 */
public record PaymentKey(String value) {
  public static final int MAX_LENGTH = 255;

  public PaymentKey {
    if (value.isBlank() || value.length() > MAX_LENGTH) {
      throw new IllegalArgumentException("a key has 1 to " + MAX_LENGTH + " characters");
    }
  }
}
