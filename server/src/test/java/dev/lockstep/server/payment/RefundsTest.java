package dev.lockstep.server.payment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Delays;
import dev.lockstep.gateway.TestGateway;
import dev.lockstep.server.payment.PaymentListener.Operation;
import dev.lockstep.server.payment.PaymentResult.Canceled;
import dev.lockstep.server.payment.PaymentResult.Open;
import dev.lockstep.server.payment.PaymentResult.Succeeded;
import dev.lockstep.server.payment.RefundResult.AlreadyRefunded;
import dev.lockstep.server.payment.RefundResult.Differs;
import dev.lockstep.server.payment.RefundResult.Failed;
import dev.lockstep.server.payment.RefundResult.Pending;
import dev.lockstep.server.payment.RefundResult.Refunded;
import dev.lockstep.testkit.TestDatabase;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A refund is done when the provider says that the money went back, and cancelling is asked anew.
 */
class RefundsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final Money PRICE = new Money(500, "JPY");

  private static final Queue<Operation> refused = new ConcurrentLinkedQueue<>();

  private static TestGateway gateway;
  private static Payments payments;

  @BeforeAll
  static void start() {
    TestGateway.migrate(database);
    gateway = TestGateway.start(database);
    payments =
        Payments.open(
            gateway.vertx(),
            PaymentsConfig.of(gateway.url(), TestGateway.KEY).withRetries(0),
            (operation, took, isRefused) -> {
              if (isRefused) {
                refused.add(operation);
              }
            });
  }

  @AfterAll
  static void stop() {
    payments.close();
    gateway.close();
  }

  @BeforeEach
  void forget() {
    gateway.gateway().setFaults(GatewayFaults.NONE);
    refused.clear();
    database.execute("TRUNCATE gateway.intent, gateway.answer, gateway.refund, gateway.webhook");
  }

  @Test
  void aRefusedRefundIsReportedAsRefused() {
    assertThat(refund(new IntentId("pi_nobodys"))).isInstanceOf(RefundResult.Rejected.class);

    assertThat(refused).containsExactly(Operation.REFUND);
  }

  @Test
  void aPendingRefundIsAskedForUntilItIsDone() {
    IntentId intent = paid();
    gateway.gateway().setFaults(GatewayFaults.NONE.withDelays(Delays.pendingRefunds(1)));

    RefundResult pending = refund(intent);
    assertThat(pending).isEqualTo(new Pending(newest(), false));
    assertThat(refund(intent)).isEqualTo(pending);
    settle("requires_action");
    assertThat(refund(intent)).isEqualTo(new Pending(newest(), true));

    settle("succeeded");
    assertThat(refund(intent)).isEqualTo(new AlreadyRefunded(intent));
    assertThat(refunds()).isEqualTo(1);
    assertThat(refused).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"failed", "canceled"})
  void aRefundThatCameToNothingIsMadeAgain(String outcome) {
    IntentId intent = paid();
    gateway.gateway().setFaults(GatewayFaults.NONE.withDelays(Delays.pendingRefunds(1)));
    refund(intent);
    settle(outcome);
    gateway.gateway().setFaults(GatewayFaults.NONE);

    assertThat(refund(intent)).isInstanceOf(Refunded.class);
    assertThat(refund(intent)).isEqualTo(new AlreadyRefunded(intent));
    assertThat(refunds()).isEqualTo(2);
    assertThat(database.queryLong("SELECT refunded FROM gateway.intent")).isEqualTo(500);
  }

  @Test
  void aRefundThatAlwaysFailsIsLeftToPeopleInTheEnd() {
    IntentId intent = paid();
    gateway.gateway().setFaults(GatewayFaults.NONE.withDelays(Delays.pendingRefunds(1)));
    for (int attempt = 0; attempt < 5; attempt++) {
      assertThat(refund(intent)).isInstanceOf(Pending.class);
      settle("failed");
    }
    assertThat(refund(intent)).isEqualTo(new Failed(newest(), "declined", 5));
    assertThat(refund(intent)).isEqualTo(new Failed(newest(), "declined", 5));
    assertThat(refunds()).isEqualTo(5);
  }

  /** The server was down for longer than the provider remembers keys. */
  @ParameterizedTest
  @ValueSource(strings = {"succeeded", "pending"})
  void aPartGoesBackOnceEvenIfTheProviderHasForgottenItsKey(String status) {
    IntentId intent = paid();
    refundPart(intent, 1, 0);
    if (status.equals("pending")) {
      gateway.gateway().setFaults(GatewayFaults.NONE.withDelays(Delays.pendingRefunds(1)));
    }
    RefundResult first = refundPart(intent, 2, 100);
    gateway.gateway().setFaults(GatewayFaults.NONE);
    database.execute("TRUNCATE gateway.answer");

    assertThat(refundPart(intent, 2, 100)).isEqualTo(first);
    assertThat(refunds()).isEqualTo(2);
  }

  @Test
  void aPartThatFailedIsMadeAgainWhateverHappenedToOthers() {
    IntentId intent = paid();
    for (int part = 1; part <= 4; part++) {
      int before = 100 * (part - 1);
      gateway.gateway().setFaults(GatewayFaults.NONE.withDelays(Delays.pendingRefunds(1)));
      for (int attempt = 1; attempt <= 3; attempt++) {
        assertThat(refundPart(intent, part, before)).isInstanceOf(Pending.class);
        settle("failed");
      }
      gateway.gateway().setFaults(GatewayFaults.NONE);
      assertThat(refundPart(intent, part, before)).isInstanceOf(Refunded.class);
    }
    assertThat(database.queryLong("SELECT refunded FROM gateway.intent")).isEqualTo(400);
  }

  /** Some of it had gone back in the provider's console. */
  @Test
  void whatWentBackByOtherWaysCounts() {
    IntentId intent = paid();
    database.execute(
        """
        INSERT INTO gateway.refund (id, intent, amount, currency, metadata, created_at)
          VALUES ('re_00000000x', '%1$s', 200, 'jpy', '{}', now());
        UPDATE gateway.intent SET refunded = 200 WHERE id = '%1$s'"""
            .formatted(intent));
    assertThat(refund(intent)).isEqualTo(new AlreadyRefunded(intent));
    assertThat(database.queryLong("SELECT sum(amount) FROM gateway.refund")).isEqualTo(500);
  }

  @Test
  void aRefundOfOtherMoneyIsNotTheOneAskedFor() {
    IntentId intent = paid();
    RefundRequest more =
        new RefundRequest(intent, new PaymentKey("r"), new Money(600, "JPY"), Map.of());
    assertThat(join(payments.refund(more))).isEqualTo(new Differs(PRICE));
    RefundRequest other =
        new RefundRequest(intent, new PaymentKey("r"), new Money(500, "USD"), Map.of());
    assertThat(join(payments.refund(other))).isEqualTo(new Differs(PRICE));
  }

  @Test
  void whatCouldNotBeCanceledMayBeLater() {
    gateway.gateway().setFaults(GatewayFaults.NONE.withDelays(Delays.processing(1)));
    Open open = (Open) pay();
    IntentId intent = open.intent();
    assertThat(join(payments.cancel(intent))).isEqualTo(new Open(intent, "processing"));
    join(gateway.gateway().settle(intent.value(), false));
    assertThat(join(payments.cancel(intent))).isEqualTo(new Canceled(intent));
    assertThat(join(payments.cancel(intent))).isEqualTo(new Canceled(intent));
  }

  @Test
  void whatCouldNotBeCanceledMayBePaid() {
    gateway.gateway().setFaults(GatewayFaults.NONE.withDelays(Delays.processing(1)));
    IntentId intent = ((Open) pay()).intent();
    join(payments.cancel(intent));
    join(gateway.gateway().settle(intent.value(), true));
    assertThat(join(payments.cancel(intent))).isEqualTo(new Succeeded(intent, PRICE));
  }

  private static IntentId paid() {
    return ((Succeeded) pay()).intent();
  }

  private static PaymentResult pay() {
    return join(
        payments.pay(
            new PaymentRequest(
                new PaymentKey("k"), PRICE, "pm_card_visa", Map.of("purchase", "p-1"))));
  }

  private static RefundResult refund(IntentId intent) {
    return join(
        payments.refund(
            new RefundRequest(intent, new PaymentKey("r"), PRICE, Map.of("purchase", "p-1"))));
  }

  private static RefundResult refundPart(IntentId intent, int number, long before) {
    return join(
        payments.refund(
            new RefundRequest(
                intent,
                new PaymentKey("r-" + number),
                new Money(100, "JPY"),
                Map.of("purchase", "p-1"),
                before,
                true)));
  }

  private static void settle(String outcome) {
    assertThat(join(gateway.gateway().settleRefund(newest(), outcome))).isTrue();
  }

  private static String newest() {
    return database
        .query("SELECT id FROM gateway.refund ORDER BY id DESC LIMIT 1", row -> row.getString(1))
        .get(0);
  }

  private static long refunds() {
    return database.queryLong("SELECT count(*) FROM gateway.refund");
  }

  private static <T> T join(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }
}
