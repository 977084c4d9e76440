package dev.lockstep.server.payment;

import java.util.Currency;
import java.util.Map;

/**
 * How many decimals each currency's amounts have: ¥500 is 500, $5.00 is 500, 5.000 KWD is 5000.
 *
 * <p>ISO 4217, as the JDK knows it, with Stripe's exceptions. This class prevents the mistake of
 * multiplying every price by a hundred.
 */
public final class CurrencyRules {
  /**
   * Where Stripe differs from ISO 4217: ISK and UGX lost their minor unit but kept two decimals at
   * Stripe; the ariary has fifths, but no decimals at Stripe.
   */
  private static final Map<String, Integer> STRIPE_EXPONENTS = Map.of("ISK", 2, "UGX", 2, "MGA", 0);

  private CurrencyRules() {}

  /**
   * How many decimals the currency's amounts have.
   *
   * @param currency three capital letters
   * @throws IllegalArgumentException if it is not a payment currency
   */
  public static int exponent(String currency) {
    Integer exception = STRIPE_EXPONENTS.get(currency);
    return exception == null ? isoExponent(currency) : exception;
  }

  /** Whether this is a payment currency, in capital letters. */
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
      throw new IllegalArgumentException("not a payment currency: " + currency);
    }
    return digits;
  }
}
