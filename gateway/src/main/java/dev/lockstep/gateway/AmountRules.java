package dev.lockstep.gateway;

import java.util.Currency;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The amounts that Stripe accepts, in the currency's smallest unit. Written from Stripe's tables
 * and deliberately not shared with the client's rules: a mistake that both share would stay hidden.
 */
final class AmountRules {
  /** Eight digits, whatever the currency. */
  private static final long MAX_AMOUNT = 99_999_999;

  /** Three decimals on paper; cards settle two, so the last digit must be 0. */
  private static final Set<String> THREE_DECIMALS = Set.of("bhd", "jod", "kwd", "omr", "tnd");

  /** No minor unit today, but Stripe keeps two decimals, which must be 00. */
  private static final Set<String> WHOLE_IN_HUNDREDTHS = Set.of("isk", "ugx");

  private static final Map<String, Integer> MINIMUMS =
      Map.ofEntries(
          Map.entry("usd", 50),
          Map.entry("aed", 200),
          Map.entry("aud", 50),
          Map.entry("bgn", 100),
          Map.entry("brl", 50),
          Map.entry("cad", 50),
          Map.entry("chf", 50),
          Map.entry("czk", 1_500),
          Map.entry("dkk", 250),
          Map.entry("eur", 50),
          Map.entry("gbp", 30),
          Map.entry("hkd", 400),
          Map.entry("huf", 17_500),
          Map.entry("inr", 50),
          Map.entry("jpy", 50),
          Map.entry("mxn", 1_000),
          Map.entry("myr", 200),
          Map.entry("nok", 300),
          Map.entry("nzd", 50),
          Map.entry("pln", 200),
          Map.entry("ron", 200),
          Map.entry("sek", 300),
          Map.entry("sgd", 50),
          Map.entry("thb", 1_000));

  private AmountRules() {}

  /** What is wrong with the amount, if anything. */
  static Optional<StripeError> check(long amount, String currency) {
    if (!isCurrency(currency)) {
      return Optional.of(
          StripeError.invalid("currency", "Invalid currency: " + currency + ".")
              .withCode("parameter_invalid_string"));
    }
    if (amount < 1) {
      return Optional.of(
          StripeError.invalid("amount", "This value must be greater than or equal to 1.")
              .withCode("parameter_invalid_integer"));
    }
    int step = step(currency);
    if (amount % step != 0) {
      return Optional.of(
          StripeError.invalid(
              "amount", "Amounts in " + currency + " must be evenly divisible by " + step + "."));
    }
    if (amount < MINIMUMS.getOrDefault(currency, 1)) {
      return Optional.of(
          StripeError.invalid("amount", "Amount is below the minimum charge in " + currency + ".")
              .withCode("amount_too_small"));
    }
    if (amount > MAX_AMOUNT) {
      return Optional.of(
          StripeError.invalid("amount", "Amount must be no more than " + MAX_AMOUNT + ".")
              .withCode("amount_too_large"));
    }
    return Optional.empty();
  }

  private static int step(String currency) {
    if (THREE_DECIMALS.contains(currency)) {
      return 10;
    }
    return WHOLE_IN_HUNDREDTHS.contains(currency) ? 100 : 1;
  }

  private static boolean isCurrency(String currency) {
    try {
      // Metals, funds and test codes have no digits; nobody pays with them.
      return Currency.getInstance(currency.toUpperCase(Locale.ROOT)).getDefaultFractionDigits()
          >= 0;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
