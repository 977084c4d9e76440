package dev.lockstep.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.stripe.StripeClient;
import com.stripe.exception.CardException;
import com.stripe.exception.StripeException;
import com.stripe.model.Refund;
import com.stripe.net.ApiResource.RequestMethod;
import com.stripe.param.RefundCreateParams;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.gateway.GatewayFaults.Delays;
import dev.lockstep.gateway.GatewayFaults.Webhooks;
import dev.lockstep.testkit.TestDatabase;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults are switched on and off, and those of cards, banks and refunds do what they say. */
class FaultsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

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
  void aGoodCardIsDeclined() {
    faults(GatewayFaults.NONE.withDeclineRate(1));
    StripeClient stripe = gateway.client();
    CardException declined =
        catchThrowableOfType(
            CardException.class,
            () -> stripe.v1().paymentIntents().create(TestGateway.paying("pm_card_visa")));
    assertThat(declined.getDeclineCode()).isEqualTo("generic_decline");
    assertThat(paid()).isZero();
  }

  @Test
  void aProcessingIntentIsNotCanceledUntilItsBankHasSaidNo() throws StripeException {
    StripeClient stripe = gateway.client();
    faults(GatewayFaults.NONE.withDelays(Delays.processing(1)));
    String intent = stripe.v1().paymentIntents().create(TestGateway.paying("pm_card_visa")).getId();
    assertThat(stripe.v1().paymentIntents().retrieve(intent).getStatus()).isEqualTo("processing");
    assertThatThrownBy(() -> stripe.v1().paymentIntents().cancel(intent))
        .isInstanceOf(StripeException.class);

    assertThat(gateway.gateway().settle(intent, false).toCompletableFuture().join()).isTrue();
    assertThat(gateway.gateway().settle(intent, true).toCompletableFuture().join()).isFalse();
    assertThat(stripe.v1().paymentIntents().cancel(intent).getStatus()).isEqualTo("canceled");
    assertThat(paid()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"succeeded, 500", "failed, 0", "canceled, 0"})
  void aPendingRefundComesToSomethingOnce(String outcome, long refunded) throws StripeException {
    StripeClient stripe = gateway.client();
    String intent = stripe.v1().paymentIntents().create(TestGateway.paying("pm_card_visa")).getId();
    faults(GatewayFaults.NONE.withDelays(Delays.pendingRefunds(1)));
    RefundCreateParams all = RefundCreateParams.builder().setPaymentIntent(intent).build();
    Refund refund = stripe.v1().refunds().create(all);
    assertThat(refund.getStatus()).isEqualTo("pending");
    assertThatThrownBy(() -> stripe.v1().refunds().create(all)).isInstanceOf(StripeException.class);

    assertThat(settle(refund.getId(), outcome)).isTrue();
    assertThat(settle(refund.getId(), "succeeded")).isFalse();
    assertThat(stripe.v1().refunds().retrieve(refund.getId()).getStatus()).isEqualTo(outcome);
    assertThat(database.queryLong("SELECT refunded FROM gateway.intent")).isEqualTo(refunded);
  }

  private static boolean settle(String refund, String outcome) {
    return gateway.gateway().settleRefund(refund, outcome).toCompletableFuture().join();
  }

  @Test
  void operatorsSwitchFaultsOverHttp() throws StripeException {
    StripeClient stripe = gateway.client();
    String json =
        "{\"latencyMs\":5,\"declineRate\":0.5,\"timeoutRate\":1,\"lateByMs\":7,"
            + "\"duplicateRate\":1,\"webhookDelayMs\":9,\"reorderRate\":0.25,"
            + "\"idempotencyErrorRate\":0.125,\"processingRate\":0.25,\"pendingRefundRate\":1}";
    var unused = stripe.rawRequest(RequestMethod.POST, "/v1/test/faults", json);
    assertThat(gateway.gateway().faults())
        .isEqualTo(
            new GatewayFaults(
                Duration.ofMillis(5),
                0.5,
                new Answers(0, 0, 1, Duration.ofMillis(7), 0.125),
                new Webhooks(1, Duration.ofMillis(9), 0.25),
                new Delays(0.25, 1)));
    unused = stripe.rawRequest(RequestMethod.DELETE, "/v1/test/faults", null);
    assertThat(gateway.gateway().faults()).isEqualTo(GatewayFaults.NONE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"{\"declineRte\":1}", "{\"declineRate\":2}", "{\"latencyMs\":\"x\"}", "[]", "x"})
  void aFaultThatMakesNoSenseIsRefused(String json) {
    assertThatIllegalArgumentException().isThrownBy(() -> FaultsJson.read(json));
    assertThatThrownBy(
            () -> gateway.client().rawRequest(RequestMethod.POST, "/v1/test/faults", json))
        .isInstanceOf(StripeException.class);
    assertThat(gateway.gateway().faults()).isEqualTo(GatewayFaults.NONE);
  }

  private static void faults(GatewayFaults faults) {
    gateway.gateway().setFaults(faults);
  }

  private static long paid() {
    return database.queryLong("SELECT count(*) FROM gateway.intent WHERE status = 3");
  }
}
