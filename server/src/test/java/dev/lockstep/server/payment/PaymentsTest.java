package dev.lockstep.server.payment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.gateway.TestGateway;
import dev.lockstep.server.payment.PaymentResult.Canceled;
import dev.lockstep.server.payment.PaymentResult.Declined;
import dev.lockstep.server.payment.PaymentResult.Rejected;
import dev.lockstep.server.payment.PaymentResult.RequiresAction;
import dev.lockstep.server.payment.PaymentResult.Succeeded;
import dev.lockstep.server.payment.PaymentResult.Unknown;
import dev.lockstep.testkit.TestDatabase;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every outcome is a value, and none is guessed. */
class PaymentsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static TestGateway gateway;
  private static Payments payments;

  @BeforeAll
  static void start() {
    TestGateway.migrate(database);
    gateway = TestGateway.start(database);
    payments =
        Payments.open(
            gateway.vertx(), PaymentsConfig.of(gateway.url(), TestGateway.KEY).withRetries(0));
  }

  @AfterAll
  static void stop() {
    payments.close();
    gateway.close();
  }

  @BeforeEach
  void forget() {
    gateway.gateway().setFaults(GatewayFaults.NONE);
    database.execute("TRUNCATE gateway.intent, gateway.answer, gateway.refund, gateway.webhook");
  }

  @ParameterizedTest
  @CsvSource({"500, JPY", "500, USD", "5120, KWD"})
  void whatIsChargedIsTheAmountInTheCurrencysUnit(long amount, String currency) {
    Money price = new Money(amount, currency);
    PaymentResult result =
        join(
            payments.pay(
                new PaymentRequest(new PaymentKey("k1"), price, "pm_card_visa", Map.of())));
    assertThat(result).isInstanceOf(Succeeded.class);
    assertThat(((Succeeded) result).amount()).isEqualTo(price);
    assertThat(database.queryLong("SELECT amount FROM gateway.intent")).isEqualTo(amount);
  }

  @Test
  void anAmountThatCardsDoNotSettleIsRejected() {
    PaymentResult result =
        join(
            payments.pay(
                new PaymentRequest(
                    new PaymentKey("k1"), new Money(5_124, "KWD"), "pm_card_visa", Map.of())));
    assertThat(result).isInstanceOf(Rejected.class);
    assertThat(intents()).isZero();
  }

  @Test
  void aDeclineSaysWhy() {
    PaymentResult result =
        join(payments.pay(request("k1", "pm_card_visa_chargeDeclinedInsufficientFunds")));
    assertThat(result).isInstanceOf(Declined.class);
    Declined declined = (Declined) result;
    assertThat(declined.code()).isEqualTo("insufficient_funds");
    assertThat(join(payments.find(declined.intent().orElseThrow()))).isEqualTo(declined);
  }

  @Test
  void aChallengeIsPassedOrCanceled() {
    RequiresAction passed = challenged("k1");
    assertThat(passed.clientSecret()).isNotEmpty();
    assertThat(passed.toString()).doesNotContain(passed.clientSecret());
    join(gateway.gateway().authenticate(passed.intent().value(), true));
    assertThat(join(payments.find(passed.intent()))).isInstanceOf(Succeeded.class);
    assertThat(join(payments.cancel(passed.intent()))).isInstanceOf(Succeeded.class);

    RequiresAction left = challenged("k2");
    assertThat(join(payments.cancel(left.intent()))).isEqualTo(new Canceled(left.intent()));
    assertThat(join(payments.cancel(left.intent()))).isEqualTo(new Canceled(left.intent()));
    assertThat(join(payments.find(left.intent()))).isEqualTo(new Canceled(left.intent()));
  }

  @Test
  void aRefundHappensOnce() {
    Succeeded paid = (Succeeded) join(payments.pay(request("k1", "pm_card_visa")));
    RefundResult first = join(payments.refund(refund(paid.intent(), "r1")));
    assertThat(first).isInstanceOf(RefundResult.Refunded.class);
    assertThat(((RefundResult.Refunded) first).amount()).isEqualTo(new Money(500, "JPY"));
    assertThat(join(payments.refund(refund(paid.intent(), "r1")))).isEqualTo(first);
    assertThat(join(payments.refund(refund(paid.intent(), "r2"))))
        .isEqualTo(new RefundResult.AlreadyRefunded(paid.intent()));
    assertThat(database.queryLong("SELECT count(*) FROM gateway.refund")).isEqualTo(1);
  }

  @Test
  void whatIsNotThereIsRejected() {
    IntentId nobodys = new IntentId("pi_nobodys");
    assertThat(join(payments.find(nobodys))).isInstanceOf(Rejected.class);
    assertThat(join(payments.cancel(nobodys))).isInstanceOf(Rejected.class);
    assertThat(join(payments.refund(refund(nobodys, "r1"))))
        .isInstanceOf(RefundResult.Rejected.class);
  }

  @Test
  void aKeyThatWasUsedForAnotherPaymentSaysNothingOfThisOne() {
    PaymentResult first = join(payments.pay(request("k1", "pm_card_visa")));
    // The metadata leads to what was paid under the key.
    assertThat(join(payments.pay(request("k1", "pm_card_mastercard")))).isEqualTo(first);
    PaymentRequest unheardOf =
        new PaymentRequest(
            new PaymentKey("k1"), new Money(500, "JPY"), "pm_card_visa", Map.of("purchase", "p-2"));
    assertThat(join(payments.pay(unheardOf))).isInstanceOf(Unknown.class);
    assertThat(intents()).isEqualTo(1);
  }

  @Test
  void aProviderThatIsNotThereIsUnknown() {
    PaymentsConfig config =
        PaymentsConfig.of(URI.create("http://127.0.0.1:1"), TestGateway.KEY).withRetries(0);
    try (Payments lonely = Payments.open(gateway.vertx(), config)) {
      assertThat(join(lonely.pay(request("k1", "pm_card_visa")))).isInstanceOf(Unknown.class);
      assertThat(join(lonely.refund(refund(new IntentId("pi_1"), "r1"))))
          .isInstanceOf(RefundResult.Unknown.class);
    }
  }

  @Test
  void aRefundOfUnknownOutcomeIsAskedForAgain() {
    Succeeded paid = (Succeeded) join(payments.pay(request("k1", "pm_card_visa")));
    gateway.gateway().setFaults(GatewayFaults.NONE.withAnswers(Answers.errorsAfter(1)));
    assertThat(join(payments.refund(refund(paid.intent(), "r1"))))
        .isInstanceOf(RefundResult.Unknown.class);
    gateway.gateway().setFaults(GatewayFaults.NONE);
    assertThat(join(payments.refund(refund(paid.intent(), "r1"))))
        .isInstanceOf(RefundResult.Refunded.class);
    assertThat(database.queryLong("SELECT count(*) FROM gateway.refund")).isEqualTo(1);
  }

  @Test
  void aPaymentThatNeverArrivedCanBeAbandoned() {
    PaymentRequest request = request("k1", "pm_card_visa");
    gateway.gateway().setFaults(GatewayFaults.NONE.withAnswers(Answers.errorsBefore(1)));
    assertThat(join(payments.pay(request))).isInstanceOf(Unknown.class);
    gateway.gateway().setFaults(GatewayFaults.NONE);

    PaymentResult abandoned = join(payments.abandon(request));
    assertThat(abandoned).isInstanceOf(Canceled.class);
    assertThat(join(payments.abandon(request))).isEqualTo(abandoned);
    // The request that was thought lost arrives after all.
    assertThat(join(payments.pay(request))).isEqualTo(abandoned);
    assertThat(database.queryLong("SELECT count(*) FROM gateway.intent WHERE status = 3")).isZero();
  }

  @Test
  void aPaymentThatArrivedIsFoundWhenItIsAbandoned() {
    PaymentRequest request = request("k1", "pm_card_visa");
    gateway.gateway().setFaults(GatewayFaults.NONE.withAnswers(Answers.errorsAfter(1)));
    assertThat(join(payments.pay(request))).isInstanceOf(Unknown.class);
    gateway.gateway().setFaults(GatewayFaults.NONE);
    assertThat(join(payments.abandon(request))).isInstanceOf(Succeeded.class);
    assertThat(intents()).isEqualTo(1);
  }

  @Test
  void anAbandonedChallengeIsCanceled() {
    PaymentRequest request = request("k1", "pm_card_authenticationRequired");
    IntentId intent = challenged("k1").intent();
    assertThat(join(payments.abandon(request))).isEqualTo(new Canceled(intent));
  }

  @Test
  void fiveHundredPaymentsAreUnderWayAtOnce() {
    gateway.gateway().setFaults(GatewayFaults.NONE.withLatency(Duration.ofMillis(50)));
    List<CompletableFuture<PaymentResult>> all =
        IntStream.range(0, 500)
            .mapToObj(i -> payments.pay(request("k" + i, "pm_card_visa")).toCompletableFuture())
            .toList();
    assertThat(all).allSatisfy(one -> assertThat(one.join()).isInstanceOf(Succeeded.class));
    assertThat(intents()).isEqualTo(500);
  }

  @Test
  void moreThanThereIsRoomForIsRefusedAtOnce() {
    gateway.gateway().setFaults(GatewayFaults.NONE.withLatency(Duration.ofHours(1)));
    PaymentsConfig config =
        PaymentsConfig.of(gateway.url(), TestGateway.KEY)
            .withLimits(1, 1)
            .withRetries(0)
            .withAnswerTimeout(Duration.ofSeconds(1));
    try (Payments narrow = Payments.open(gateway.vertx(), config)) {
      List<PaymentResult> results =
          IntStream.range(0, 10)
              .mapToObj(i -> narrow.pay(request("n" + i, "pm_card_visa")))
              .toList()
              .stream()
              .map(PaymentsTest::join)
              .toList();
      assertThat(results).hasAtLeastOneElementOfType(Rejected.class);
      assertThat(results).hasAtLeastOneElementOfType(Unknown.class);
      assertThat(results)
          .filteredOn(Rejected.class::isInstance)
          .allSatisfy(r -> assertThat(((Rejected) r).code()).isEqualTo("overloaded"));
    }
  }

  @Test
  void aConfigurationKeepsItsSecret() {
    assertThat(PaymentsConfig.of(PaymentsConfig.STRIPE, "sk_live_hidden").toString())
        .doesNotContain("hidden");
  }

  private static RequiresAction challenged(String key) {
    return (RequiresAction) join(payments.pay(request(key, "pm_card_authenticationRequired")));
  }

  private static PaymentRequest request(String key, String card) {
    return new PaymentRequest(
        new PaymentKey(key), new Money(500, "JPY"), card, Map.of("purchase", "p-1"));
  }

  private static RefundRequest refund(IntentId intent, String key) {
    return new RefundRequest(
        intent, new PaymentKey(key), new Money(500, "JPY"), Map.of("purchase", "p-1"));
  }

  private static <T> T join(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  private static long intents() {
    return database.queryLong("SELECT count(*) FROM gateway.intent");
  }
}
