package dev.lockstep.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.stripe.StripeClient;
import com.stripe.exception.CardException;
import com.stripe.exception.IdempotencyException;
import com.stripe.exception.InvalidRequestException;
import com.stripe.exception.StripeException;
import com.stripe.model.PaymentIntent;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One effect per idempotency key, whoever sends it and however often. */
class IdempotencyTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  @BeforeAll
  static void migrate() {
    TestGateway.migrate(database);
  }

  @BeforeEach
  void forget() {
    database.execute("TRUNCATE gateway.intent, gateway.answer, gateway.refund, gateway.webhook");
  }

  @Test
  void theSameKeyGetsTheSameAnswer() throws StripeException {
    try (TestGateway gateway = TestGateway.start(database)) {
      StripeClient stripe = gateway.client();
      PaymentIntent first = pay(stripe, "pm_card_visa", "k1");
      PaymentIntent again = pay(stripe, "pm_card_visa", "k1");
      assertThat(again.toJson()).isEqualTo(first.toJson());
      assertThat(again.getLastResponse().headers().firstValue("Idempotent-Replayed"))
          .contains("true");
      assertThat(intents()).isEqualTo(1);
    }
  }

  @Test
  void theSameKeyForSomethingElseIsRefused() throws StripeException {
    try (TestGateway gateway = TestGateway.start(database)) {
      StripeClient stripe = gateway.client();
      PaymentIntent first = pay(stripe, "pm_card_visa", "k1");
      assertThatThrownBy(() -> pay(stripe, "pm_card_mastercard", "k1"))
          .isInstanceOf(IdempotencyException.class);
      assertThatThrownBy(
              () -> stripe.v1().paymentIntents().cancel(first.getId(), TestGateway.key("k1")))
          .isInstanceOf(IdempotencyException.class);
      assertThat(intents()).isEqualTo(1);
    }
  }

  @Test
  void aDeclineIsAnAnswerToo() {
    try (TestGateway gateway = TestGateway.start(database)) {
      StripeClient stripe = gateway.client();
      CardException first = declined(stripe);
      CardException again = declined(stripe);
      assertThat(again.getStripeError().getPaymentIntent().getId())
          .isEqualTo(first.getStripeError().getPaymentIntent().getId());
      assertThat(intents()).isEqualTo(1);
    }
  }

  @Test
  void aRefusedParameterLeavesTheKeyFree() throws StripeException {
    try (TestGateway gateway = TestGateway.start(database)) {
      StripeClient stripe = gateway.client();
      assertThatThrownBy(() -> pay(stripe, "pm_card_unheard_of", "k1"))
          .isInstanceOf(InvalidRequestException.class);
      assertThat(pay(stripe, "pm_card_visa", "k1").getStatus()).isEqualTo("succeeded");
    }
  }

  @Test
  void aRestartForgetsNoKey() throws StripeException {
    PaymentIntent first;
    try (TestGateway gateway = TestGateway.start(database)) {
      first = pay(gateway.client(), "pm_card_visa", "k1");
    }
    try (TestGateway gateway = TestGateway.start(database)) {
      assertThat(pay(gateway.client(), "pm_card_visa", "k1").toJson()).isEqualTo(first.toJson());
      assertThat(gateway.client().v1().paymentIntents().retrieve(first.getId()).getStatus())
          .isEqualTo("succeeded");
    }
    assertThat(intents()).isEqualTo(1);
  }

  @Test
  void twinsSentToTwoGatewaysAtOnceAreOnePayment() throws InterruptedException {
    try (TestGateway one = TestGateway.start(database);
        TestGateway other = TestGateway.start(database)) {
      List<StripeClient> clients = List.of(one.client(), other.client());
      for (int round = 0; round < 5; round++) {
        String key = "twin-" + round;
        List<String> ids =
            Race.<String>of(20)
                .run(i -> pay(clients.get(i % 2), "pm_card_visa", key).getId())
                .valuesOrThrow();
        assertThat(ids).hasSize(20).containsOnly(ids.get(0));
      }
      assertThat(intents()).isEqualTo(5);
    }
  }

  private static PaymentIntent pay(StripeClient stripe, String card, String key)
      throws StripeException {
    return stripe.v1().paymentIntents().create(TestGateway.paying(card), TestGateway.key(key));
  }

  private static CardException declined(StripeClient stripe) {
    return catchThrowableOfType(
        CardException.class, () -> pay(stripe, "pm_card_chargeDeclined", "k1"));
  }

  private static long intents() {
    return database.queryLong("SELECT count(*) FROM gateway.intent");
  }
}
