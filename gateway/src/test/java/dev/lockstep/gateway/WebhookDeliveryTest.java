package dev.lockstep.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.stripe.StripeClient;
import com.stripe.exception.CardException;
import com.stripe.model.Event;
import com.stripe.model.PaymentIntent;
import com.stripe.net.Webhook;
import com.stripe.param.RefundCreateParams;
import dev.lockstep.gateway.GatewayFaults.Webhooks;
import dev.lockstep.gateway.Receiver.Delivery;
import dev.lockstep.testkit.TestDatabase;
import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Events are signed, and sent until they are taken. */
class WebhookDeliveryTest {
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
  void aSignatureSatisfiesStripesVerifier() throws Exception {
    try (Receiver receiver = Receiver.accepting();
        TestGateway gateway = TestGateway.start(database, receiver.config())) {
      PaymentIntent paid = pay(gateway.client(), "pm_card_visa");
      Delivery delivery = receiver.take();

      Event event = Webhook.constructEvent(delivery.body(), delivery.signature(), Receiver.SECRET);
      assertThat(event.getId()).startsWith("evt_");
      assertThat(event.getType()).isEqualTo("payment_intent.succeeded");
      PaymentIntent inEvent =
          (PaymentIntent) event.getDataObjectDeserializer().getObject().orElseThrow();
      assertThat(inEvent.toJson()).isEqualTo(paid.toJson());
    }
  }

  @Test
  void everyEndHasItsEvent() throws Exception {
    try (Receiver receiver = Receiver.accepting();
        TestGateway gateway = TestGateway.start(database, receiver.config())) {
      StripeClient stripe = gateway.client();
      PaymentIntent paid = pay(stripe, "pm_card_visa");
      assertThat(receiver.take().type()).isEqualTo("payment_intent.succeeded");
      var unused =
          stripe
              .v1()
              .refunds()
              .create(RefundCreateParams.builder().setPaymentIntent(paid.getId()).build());
      assertThat(receiver.take().type()).isEqualTo("charge.refunded");
      PaymentIntent challenged = pay(stripe, "pm_card_authenticationRequired");
      assertThat(receiver.take().type()).isEqualTo("payment_intent.requires_action");
      stripe.v1().paymentIntents().cancel(challenged.getId());
      assertThat(receiver.take().type()).isEqualTo("payment_intent.canceled");
      assertThat(decline(stripe)).isEqualTo("card_declined");
      assertThat(receiver.take().type()).isEqualTo("payment_intent.payment_failed");
    }
  }

  @Test
  void anEventIsSentUntilItIsTaken() throws Exception {
    AtomicInteger attempts = new AtomicInteger();
    try (Receiver receiver = new Receiver(delivery -> attempts.incrementAndGet() < 4 ? 503 : 204);
        TestGateway gateway = TestGateway.start(database, receiver.config())) {
      pay(gateway.client(), "pm_card_visa");
      Set<String> ids = new HashSet<>();
      for (int i = 0; i < 4; i++) {
        Delivery delivery = receiver.take();
        ids.add(delivery.id());
        Webhook.constructEvent(delivery.body(), delivery.signature(), Receiver.SECRET);
      }
      assertThat(ids).hasSize(1);
      awaitNoneLeft(gateway);
    }
  }

  @Test
  void anEventThatNobodyTakesIsKeptAndNotSentForEver() throws Exception {
    try (Receiver receiver = new Receiver(delivery -> 500)) {
      WebhookTarget t = receiver.target();
      WebhookTarget twice =
          new WebhookTarget(
              t.url(),
              t.secret(),
              t.answerTimeout(),
              t.retryAfter(),
              t.maxRetryAfter(),
              2,
              t.takeOverAfter(),
              t.pollInterval());
      try (TestGateway gateway =
          TestGateway.start(database, GatewayConfig.withKey(TestGateway.KEY).withWebhooks(twice))) {
        pay(gateway.client(), "pm_card_visa");
        receiver.take();
        receiver.take();
      }
      // Closing the gateway wrote what became of the second attempt.
      assertThat(
              database.query(
                  "SELECT attempts || ' ' || (due_at = 'infinity') FROM gateway.webhook",
                  row -> row.getString(1)))
          .containsExactly("2 true");
    }
  }

  @Test
  void aRestartLosesNoEvent() throws Exception {
    WebhookTarget nobody;
    try (Receiver closed = Receiver.accepting()) {
      nobody = closed.target();
    }
    PaymentIntent paid;
    try (TestGateway gateway =
        TestGateway.start(database, GatewayConfig.withKey(TestGateway.KEY).withWebhooks(nobody))) {
      paid = pay(gateway.client(), "pm_card_visa");
    }
    try (Receiver receiver = Receiver.accepting();
        TestGateway gateway = TestGateway.start(database, receiver.config())) {
      // Whatever the first one had in hand when it ended comes back to the table by its due time.
      database.execute("UPDATE gateway.webhook SET due_at = now()");
      Delivery delivery = receiver.take();
      assertThat(delivery.body()).contains(paid.getId());
      awaitNoneLeft(gateway);
    }
  }

  @Test
  void aDuplicateHasTheSameId() throws Exception {
    try (Receiver receiver = Receiver.accepting();
        TestGateway gateway = TestGateway.start(database, receiver.config())) {
      gateway.gateway().setFaults(GatewayFaults.NONE.withWebhooks(Webhooks.duplicated(1)));
      pay(gateway.client(), "pm_card_visa");
      assertThat(receiver.take().id()).isEqualTo(receiver.take().id());
    }
  }

  @Test
  void aDelayedEventStaysInTheTableUntilItIsDue() throws Exception {
    try (Receiver receiver = Receiver.accepting();
        TestGateway gateway = TestGateway.start(database, receiver.config())) {
      gateway
          .gateway()
          .setFaults(GatewayFaults.NONE.withWebhooks(Webhooks.delayed(Duration.ofMinutes(30))));
      PaymentIntent late = pay(gateway.client(), "pm_card_visa");
      gateway.gateway().setFaults(GatewayFaults.NONE);
      PaymentIntent prompt = pay(gateway.client(), "pm_card_visa");
      assertThat(receiver.take().body()).contains(prompt.getId());
      assertThat(receiver.waiting()).isZero();
      assertThat(
              database.queryLong(
                  "SELECT count(*) FROM gateway.webhook WHERE due_at > now() + interval '20 minutes'"))
          .isEqualTo(1);
      database.execute("UPDATE gateway.webhook SET due_at = now()");
      assertThat(receiver.take().body()).contains(late.getId());
    }
  }

  @Test
  void reorderedEventsSwapPlaces() throws Exception {
    try (Receiver receiver = Receiver.accepting();
        TestGateway gateway = TestGateway.start(database, receiver.config())) {
      gateway.gateway().setFaults(GatewayFaults.NONE.withWebhooks(Webhooks.reordered(1)));
      PaymentIntent first = pay(gateway.client(), "pm_card_visa");
      PaymentIntent second = pay(gateway.client(), "pm_card_visa");
      assertThat(receiver.take().body()).contains(second.getId());
      assertThat(receiver.take().body()).contains(first.getId());
    }
  }

  @Test
  void withoutATargetNothingIsKept() throws Exception {
    try (TestGateway gateway = TestGateway.start(database)) {
      pay(gateway.client(), "pm_card_visa");
      assertThat(database.queryLong("SELECT count(*) FROM gateway.webhook")).isZero();
    }
  }

  @Test
  void aTargetKeepsItsSecret() {
    WebhookTarget target = WebhookTarget.of(URI.create("http://127.0.0.1/"), "whsec_hidden");
    assertThat(GatewayConfig.withKey("sk_hidden").withWebhooks(target).toString())
        .doesNotContain("hidden");
  }

  /** Delivered is deleted a moment later; closing the gateway makes it now. */
  private static void awaitNoneLeft(TestGateway gateway) {
    gateway.gateway().close();
    assertThat(database.queryLong("SELECT count(*) FROM gateway.webhook")).isZero();
  }

  private static PaymentIntent pay(StripeClient stripe, String card) throws Exception {
    return stripe.v1().paymentIntents().create(TestGateway.paying(card));
  }

  private static String decline(StripeClient stripe) throws Exception {
    try {
      return pay(stripe, "pm_card_chargeDeclined").getStatus();
    } catch (CardException e) {
      return e.getCode();
    }
  }
}
