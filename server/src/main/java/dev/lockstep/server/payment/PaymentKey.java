package dev.lockstep.server.payment;

/**
 * Makes a request to the provider repeatable without a further effect: one key an attempt, the same
 * key whenever that attempt is sent again. The provider remembers it for 24 hours.
 */
public record PaymentKey(String value) {
  public static final int MAX_LENGTH = 255;

  public PaymentKey {
    if (value.isBlank() || value.length() > MAX_LENGTH) {
      throw new IllegalArgumentException("a key has 1 to " + MAX_LENGTH + " characters");
    }
  }
}
