package dev.lockstep.server.payment;

import java.math.BigDecimal;

/**
 * An amount of money.
 *
 * @param amount in the currency's smallest unit: 500 is ¥500, $5.00 or 0.500 KWD
 * @param currency three capital letters
 */
public record Money(long amount, String currency) {

  public Money {
    if (!CurrencyRules.isKnown(currency)) {
      throw new IllegalArgumentException("not a currency: " + currency);
    }
    if (amount < 0) {
      throw new IllegalArgumentException("an amount must not be negative: " + amount);
    }
  }

  /**
   * Converts from the unit that people name: {@code ofMajor("5.00", "USD")} is 500.
   *
   * @throws ArithmeticException if it has more decimals than the currency
   */
  public static Money ofMajor(BigDecimal major, String currency) {
    int exponent = CurrencyRules.exponent(currency);
    return new Money(major.movePointRight(exponent).longValueExact(), currency);
  }

  /** The amount in the unit that people name, with the currency's decimals. */
  public BigDecimal major() {
    return BigDecimal.valueOf(amount, CurrencyRules.exponent(currency));
  }

  /** As {@code 5.00 USD}. */
  @Override
  public String toString() {
    return major().toPlainString() + " " + currency;
  }
}
