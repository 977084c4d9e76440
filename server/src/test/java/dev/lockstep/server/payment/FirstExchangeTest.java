package dev.lockstep.server.payment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.payment.PaymentResult.Declined;
import dev.lockstep.server.payment.PaymentResult.Succeeded;
import dev.lockstep.server.payment.PaymentResult.Unknown;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What comes of a payment's first exchange is taken as it is, and never asked for a second time;
 * what helps to be sent again is, under the same key.
 */
class FirstExchangeTest {
  private static final Reply PAID =
      new Reply(
          200,
          """
          {"object": "payment_intent", "id": "pi_1", "status": "succeeded",
           "amount_received": 500, "currency": "jpy"}""");
  private static final Reply DECLINED =
      new Reply(
          402,
          """
          {"error": {"type": "card_error", "code": "card_declined",
           "decline_code": "insufficient_funds", "message": "No."}}""");
  private static final Reply BROKEN = new Reply(500, "{\"error\": {\"type\": \"api_error\"}}");

  /** What the provider says; nothing but a closed connection if there is no body. */
  private record Reply(int status, String body) {}

  private static final Reply CUT = new Reply(0, "");

  private final Queue<Reply> replies = new ConcurrentLinkedQueue<>();
  private final List<String> keys = new CopyOnWriteArrayList<>();
  private ScriptedProvider provider;

  @BeforeEach
  void listen() throws Exception {
    provider =
        new ScriptedProvider(
            request -> {
              keys.add(request.getHeader("Idempotency-Key"));
              Reply reply = replies.remove();
              if (reply.equals(CUT)) {
                request.connection().close();
              } else {
                request.response().setStatusCode(reply.status()).end(reply.body());
              }
            });
  }

  @AfterEach
  void stop() throws Exception {
    provider.stop();
  }

  @Test
  void aSuccessIsAskedForOnce() {
    assertThat(pay(PAID)).isEqualTo(new Succeeded(new IntentId("pi_1"), new Money(500, "JPY")));
    assertThat(keys).containsExactly("k");
  }

  @Test
  void aDeclineIsAskedForOnce() {
    assertThat(pay(DECLINED))
        .isInstanceOfSatisfying(
            Declined.class,
            declined -> assertThat(declined.code()).isEqualTo("insufficient_funds"));
    assertThat(keys).containsExactly("k");
  }

  @Test
  void whatTheProviderFailedAtIsSentAgainUnderTheSameKey() {
    assertThat(pay(BROKEN, PAID)).isInstanceOf(Succeeded.class);
    assertThat(keys).containsExactly("k", "k");
  }

  @Test
  void whatWasCutOffIsSentAgainUnderTheSameKey() {
    assertThat(pay(CUT, DECLINED)).isInstanceOf(Declined.class);
    assertThat(keys).containsExactly("k", "k");
  }

  @Test
  void afterAsManyAsAllowedTheOutcomeIsUnknown() {
    assertThat(pay(CUT, BROKEN)).isInstanceOf(Unknown.class);
    assertThat(keys).containsExactly("k", "k");
  }

  private PaymentResult pay(Reply... said) {
    replies.addAll(List.of(said));
    try (Payments payments =
        Payments.open(
            provider.vertx(), PaymentsConfig.of(provider.url(), "sk_test_1").withRetries(1))) {
      PaymentRequest request =
          new PaymentRequest(
              new PaymentKey("k"), new Money(500, "JPY"), "pm_card_visa", Map.of("purchase", "p"));
      return payments.pay(request).toCompletableFuture().join();
    }
  }
}
