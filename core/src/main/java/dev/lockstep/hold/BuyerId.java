package dev.lockstep.hold;

/** Whoever buys, by any name of up to {@value #MAX_LENGTH} characters. */
public record BuyerId(String value) {
  public static final int MAX_LENGTH = 200;

  public BuyerId {
    if (value.isBlank() || value.length() > MAX_LENGTH || value.indexOf('\0') >= 0) {
      throw new IllegalArgumentException(
          "A buyer is 1 to " + MAX_LENGTH + " characters, none of them NUL");
    }
  }
}
