package dev.lockstep.ledger;

/**
 * An amount of money to move.
 *
 * @param amount in the currency's minor unit, at least 1
 * @param currency 1 to {@value #MAX_CURRENCY_LENGTH} characters of A to Z and 0 to 9: {@code JPY},
 *     or your own token
 */
public record Money(long amount, String currency) {
  public static final int MAX_CURRENCY_LENGTH = 12;

  public Money {
    if (amount < 1) {
      throw new IllegalArgumentException("An amount must be at least 1, not " + amount);
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
          "A currency must be 1 to %d characters of A to Z and 0 to 9"
              .formatted(MAX_CURRENCY_LENGTH));
    }
  }
}
