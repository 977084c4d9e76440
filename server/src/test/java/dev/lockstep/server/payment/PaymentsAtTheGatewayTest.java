package dev.lockstep.server.payment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.gateway.Receiver;
import dev.lockstep.gateway.Receiver.Delivery;
import dev.lockstep.gateway.TestGateway;
import dev.lockstep.server.payment.PaymentResult.Succeeded;
import dev.lockstep.server.payment.PaymentResult.Unknown;
import dev.lockstep.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Our client and the built-in gateway: each fault does what it says, and the same request sent
 * again finds out what had happened.
 */
class PaymentsAtTheGatewayTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final PaymentRequest REQUEST =
      new PaymentRequest(
          new PaymentKey("k1"), new Money(500, "JPY"), "pm_card_visa", Map.of("purchase", "p-1"));

  private static TestGateway gateway;

  @BeforeAll
  static void start() {
    TestGateway.migrate(database);
    gateway = TestGateway.start(database);
  }

  @AfterAll
  static void stop() {
    gateway.close();
  }

  @BeforeEach
  void forget() {
    gateway.gateway().setFaults(GatewayFaults.NONE);
    database.execute("TRUNCATE gateway.intent, gateway.answer, gateway.refund, gateway.webhook");
  }

  @Test
  void anErrorBeforeTheWorkLeavesNothing() {
    faults(GatewayFaults.NONE.withAnswers(Answers.errorsBefore(1)));
    assertThat(pay(patient())).isInstanceOf(Unknown.class);
    assertThat(paid()).isZero();
    faults(GatewayFaults.NONE);
    assertThat(pay(patient())).isInstanceOf(Succeeded.class);
    assertThat(paid()).isEqualTo(1);
  }

  @Test
  void anErrorAfterTheWorkLeavesAPayment() {
    faults(GatewayFaults.NONE.withAnswers(Answers.errorsAfter(1)));
    assertThat(pay(patient())).isInstanceOf(Unknown.class);
    assertThat(paid()).isEqualTo(1);
    faults(GatewayFaults.NONE);
    assertThat(pay(patient())).isInstanceOf(Succeeded.class);
    assertThat(paid()).isEqualTo(1);
  }

  @Test
  void anAnswerThatNeverComesMayBeAPayment() {
    faults(GatewayFaults.NONE.withAnswers(Answers.never(1)));
    assertThat(pay(impatient())).isInstanceOf(Unknown.class);
    faults(GatewayFaults.NONE);
    assertThat(pay(patient())).isInstanceOf(Succeeded.class);
    assertThat(paid()).isEqualTo(1);
  }

  @Test
  void aLateAnswerComes() {
    faults(GatewayFaults.NONE.withAnswers(Answers.late(1, Duration.ofMillis(30))));
    assertThat(pay(patient())).isInstanceOf(Succeeded.class);
    assertThat(paid()).isEqualTo(1);
  }

  @Test
  void latencyComesBeforeTheWork() {
    faults(GatewayFaults.NONE.withLatency(Duration.ofHours(1)));
    assertThat(pay(impatient())).isInstanceOf(Unknown.class);
    assertThat(paid()).isZero();
  }

  @Test
  void anEventOfTheGatewaySatisfiesOurVerifier() throws Exception {
    try (Receiver receiver = Receiver.accepting();
        TestGateway signing = TestGateway.start(database, receiver.config())) {
      String paid =
          signing.client().v1().paymentIntents().create(TestGateway.paying("pm_card_visa")).getId();
      Delivery delivery = receiver.take();

      Verification seen =
          WebhookVerifier.verify(
              delivery.body().getBytes(StandardCharsets.UTF_8),
              delivery.signature(),
              Receiver.SECRET,
              Instant.now());

      assertThat(seen).isInstanceOf(Verification.Genuine.class);
      PaymentEvent event = ((Verification.Genuine) seen).event();
      assertThat(event.id()).isEqualTo(delivery.id());
      assertThat(event.metadata()).containsEntry("purchase", "p-1");
      assertThat(event.result()).contains(new Succeeded(new IntentId(paid), new Money(500, "JPY")));
    }
  }

  private static void faults(GatewayFaults faults) {
    gateway.gateway().setFaults(faults);
  }

  private static PaymentsConfig patient() {
    return PaymentsConfig.of(gateway.url(), TestGateway.KEY).withRetries(0);
  }

  private static PaymentsConfig impatient() {
    return patient().withAnswerTimeout(Duration.ofSeconds(1));
  }

  private static PaymentResult pay(PaymentsConfig config) {
    try (Payments payments = Payments.open(gateway.vertx(), config)) {
      return payments.pay(REQUEST).toCompletableFuture().join();
    }
  }

  private static long paid() {
    return database.queryLong("SELECT count(*) FROM gateway.intent WHERE status = 3");
  }
}
