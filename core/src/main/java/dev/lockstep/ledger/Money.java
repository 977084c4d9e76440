package dev.lockstep.ledger;

/**
 * An amount that moves.
 *
 * @param amount in the currency's minor unit, at least 1
 * @param currency 1 to {@value #MAX_CURRENCY_LENGTH} of A to Z and 0 to 9: {@code JPY}, or a token
 *     of one's own
 */
public record Money(long amount, String currency) {
  public static final int MAX_CURRENCY_LENGTH = 12;

  public Money {
    if (amount < 1) {
      throw new IllegalArgumentException("What moves is at least 1, not " + amount);
    }
    requireCurrency(currency);
  }

  static void requireCurrency(String currency) {
    boolean fits = !currency.isEmpty() && currency.length() <= MAX_CURRENCY_LENGTH;
    for (int i = 0; fits && i < currency.length(); i++) {
      char c = currency.charAt(i);
      fits = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    }
    if (!fits) {
      throw new IllegalArgumentException(
          "A currency has 1 to %d of A to Z and 0 to 9".formatted(MAX_CURRENCY_LENGTH));
    }
  }
}
