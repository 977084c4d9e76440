package dev.lockstep.server.payment;

import static org.assertj.core.api.Assertions.assertThat;

import com.stripe.param.PaymentIntentCreateParams;
import dev.lockstep.gateway.TestGateway;
import dev.lockstep.server.payment.PaymentResult.Succeeded;
import dev.lockstep.testkit.TestDatabase;
import java.math.BigDecimal;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** E6: what a buyer is charged for a price of ¥500, by the provider's own books. */
class YenTimesAHundredTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static TestGateway provider;

  @BeforeAll
  static void start() {
    TestGateway.migrate(database);
    provider = TestGateway.start(database);
  }

  @AfterAll
  static void stop() {
    provider.close();
  }

  @BeforeEach
  void forget() {
    database.execute("TRUNCATE gateway.intent, gateway.answer, gateway.refund, gateway.webhook");
  }

  @Test
  void naivePriceTimesAHundredChargesAHundredTimesTheYen() throws Exception {
    long price = 500;

    provider
        .client()
        .v1()
        .paymentIntents()
        .create(
            PaymentIntentCreateParams.builder()
                .setAmount(price * 100) // "Convert to cents"
                .setCurrency("jpy")
                .setPaymentMethod("pm_card_visa")
                .setConfirm(true)
                .build());

    assertThat(charged()).isEqualTo(new Money(50_000, "JPY"));
    assertThat(charged().major()).as("yen, for a price of ¥500").isEqualByComparingTo("50000");
  }

  @ParameterizedTest
  @CsvSource({"500, JPY, 500", "5.00, USD, 500", "5.120, KWD, 5120"})
  void oursChargesThePriceInTheCurrencysOwnUnit(BigDecimal price, String currency, long amount)
      throws Exception {
    try (Payments payments =
        Payments.open(
            provider.vertx(), PaymentsConfig.of(provider.url(), TestGateway.KEY).withRetries(0))) {
      assertThat(
              payments
                  .pay(
                      new PaymentRequest(
                          new PaymentKey("k1"),
                          Money.ofMajor(price, currency),
                          "pm_card_visa",
                          Map.of()))
                  .toCompletableFuture()
                  .get())
          .isInstanceOf(Succeeded.class);
    }

    assertThat(charged()).isEqualTo(new Money(amount, currency));
    assertThat(charged().major()).isEqualByComparingTo(price);
  }

  private static Money charged() {
    return database
        .query(
            "SELECT amount, upper(currency) FROM gateway.intent WHERE status = 3",
            row -> new Money(row.getLong(1), row.getString(2)))
        .get(0);
  }
}
