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

  @ParameterizedTest
  @CsvSource({
    "500, JPY, true",
    "5120, KWD, true",
    "5124, KWD, false",
    "500, ISK, true",
    "550, ISK, false",
    "0, JPY, false"
  })
  void cardsSettleSomeCurrenciesInCoarserSteps(long amount, String currency, boolean chargeable) {
    assertThat(new Money(amount, currency).isChargeable()).isEqualTo(chargeable);
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
  void sumsStayInTheirCurrencyAndDoNotOverflow() {
    assertThat(new Money(500, "JPY").plus(new Money(1, "JPY")).times(2))
        .isEqualTo(new Money(1_002, "JPY"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Money(1, "JPY").plus(new Money(1, "USD")));
    assertThatThrownBy(() -> new Money(Long.MAX_VALUE, "JPY").times(2))
        .isInstanceOf(ArithmeticException.class);
    assertThatIllegalArgumentException().isThrownBy(() -> new Money(-1, "JPY"));
  }
}
