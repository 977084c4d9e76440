package dev.lockstep.server.payment;

import java.util.Currency;
import java.util.Map;

/**
 * How many decimals an amount has, by currency: ¥500 is 500, $5.00 is 500, 5.000 KWD is 5000.
 *
 * <p>ISO 4217, as the JDK knows it, with Stripe's exceptions. Multiplying every price by a hundred
 * is the mistake this class is here to prevent.
 */
public final class CurrencyRules {
  /**
   * Where Stripe counts otherwise than ISO 4217. ISK and UGX lost their minor unit and kept their
   * two decimals there; the ariary has fifths, and none there.
   */
  private static final Map<String, Integer> STRIPE_EXPONENTS = Map.of("ISK", 2, "UGX", 2, "MGA", 0);

  /** Cards settle two decimals, so the third must be 0; and what has no minor unit, whole units. */
  private static final Map<String, Integer> STRIPE_STEPS =
      Map.of("BHD", 10, "JOD", 10, "KWD", 10, "OMR", 10, "TND", 10, "ISK", 100, "UGX", 100);

  private CurrencyRules() {}

  /**
   * Decimals between the unit people name and the one amounts are counted in.
   *
   * @param currency three capital letters
   * @throws IllegalArgumentException if nobody pays with it
   */
  public static int exponent(String currency) {
    Integer exception = STRIPE_EXPONENTS.get(currency);
    return exception == null ? isoExponent(currency) : exception;
  }

  /**
   * Amounts must be multiples of this.
   *
   * @throws IllegalArgumentException as {@link #exponent} does
   */
  public static int step(String currency) {
    exponent(currency);
    return STRIPE_STEPS.getOrDefault(currency, 1);
  }

  /** Whether this is a currency that people pay with, in capital letters. */
  public static boolean isKnown(String currency) {
    try {
      return exponent(currency) >= 0;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static int isoExponent(String currency) {
    int digits;
    try {
      digits = Currency.getInstance(currency).getDefaultFractionDigits();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("not a currency: " + currency, e);
    }
    if (digits < 0) {
      // Gold, test codes, units of account.
      throw new IllegalArgumentException("nobody pays with " + currency);
    }
    return digits;
  }
}
