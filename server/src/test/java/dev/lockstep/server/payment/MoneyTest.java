package dev.lockstep.server.payment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An amount is what its currency says: no price is multiplied by a hundred for good measure. */
class MoneyTest {

  @ParameterizedTest
  @CsvSource({
    "500, JPY, 500",
    "500, KRW, 500",
    "500, MGA, 500",
    "5.00, USD, 500",
    "5, EUR, 500",
    "5.00, ISK, 500",
    "5.120, KWD, 5120",
    "5.12, BHD, 5120"
  })
  void theCurrencySaysWhatTheSmallestUnitIs(BigDecimal major, String currency, long amount) {
    Money money = Money.ofMajor(major, currency);
    assertThat(money).isEqualTo(new Money(amount, currency));
    assertThat(money.major()).isEqualByComparingTo(major);
  }

  @ParameterizedTest
  @CsvSource({"500, JPY, 500 JPY", "500, USD, 5.00 USD", "5120, KWD, 5.120 KWD"})
  void peopleReadItWithTheCurrencysDecimals(long amount, String currency, String text) {
    assertThat(new Money(amount, currency)).hasToString(text);
  }

  @Test
  void halfAYenIsRefused() {
    assertThatThrownBy(() -> Money.ofMajor(new BigDecimal("0.5"), "JPY"))
        .isInstanceOf(ArithmeticException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"jpy", "XAU", "XXX", "ABC", ""})
  void whatNobodyPaysWithIsNoCurrency(String currency) {
    assertThat(CurrencyRules.isKnown(currency)).isFalse();
    assertThatIllegalArgumentException().isThrownBy(() -> new Money(500, currency));
  }

  @Test
  void noAmountIsNegative() {
    assertThatIllegalArgumentException().isThrownBy(() -> new Money(-1, "JPY"));
  }
}
