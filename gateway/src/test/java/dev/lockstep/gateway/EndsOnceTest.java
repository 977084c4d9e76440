package dev.lockstep.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.stripe.StripeClient;
import com.stripe.exception.InvalidRequestException;
import com.stripe.exception.StripeException;
import com.stripe.model.PaymentIntent;
import com.stripe.model.Refund;
import com.stripe.param.RefundCreateParams;
import com.stripe.param.RefundListParams;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An intent ends once, and no more goes back than came in. Two gateways on one database. */
class EndsOnceTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static TestGateway one;
  private static TestGateway other;
  private static StripeClient stripe;

  @BeforeAll
  static void start() {
    TestGateway.migrate(database);
    one = TestGateway.start(database);
    other = TestGateway.start(database);
    stripe = one.client();
  }

  @AfterAll
  static void stop() {
    one.close();
    other.close();
  }

  @Test
  void ofCancelAndConfirmOneWins() throws Exception {
    List<StripeClient> clients = List.of(one.client(), other.client());
    for (int round = 0; round < 30; round++) {
      String id = stripe.v1().paymentIntents().create(TestGateway.unpaid()).getId();
      List<String> ends =
          Race.<String>of(4)
              .run(i -> i < 2 ? confirm(clients.get(i), id) : cancel(clients.get(i - 2), id))
              .valuesOrThrow();
      String end = stripe.v1().paymentIntents().retrieve(id).getStatus();
      assertThat(end).isIn("succeeded", "canceled");
      assertThat(ends).filteredOn(e -> !e.equals("refused")).containsExactly(end);
    }
  }

  @Test
  void aCanceledIntentCannotBePaid() throws StripeException {
    PaymentIntent intent = stripe.v1().paymentIntents().create(TestGateway.unpaid());
    PaymentIntent canceled = stripe.v1().paymentIntents().cancel(intent.getId());
    assertThat(canceled.getStatus()).isEqualTo("canceled");
    assertThat(canceled.getCanceledAt()).isNotNull();
    InvalidRequestException refused =
        catchThrowableOfType(
            InvalidRequestException.class,
            () -> stripe.v1().paymentIntents().confirm(intent.getId()));
    assertThat(refused.getCode()).isEqualTo("payment_intent_unexpected_state");
    assertThat(refused.getStripeError().getPaymentIntent().getStatus()).isEqualTo("canceled");
  }

  @Test
  void allOfItGoesBackOnce() throws Exception {
    String id = stripe.v1().paymentIntents().create(TestGateway.paying("pm_card_visa")).getId();
    RefundCreateParams params = RefundCreateParams.builder().setPaymentIntent(id).build();
    List<String> ends =
        Race.<String>of(8)
            .run(
                i -> {
                  try {
                    StripeClient client = i % 2 == 0 ? stripe : other.client();
                    return client.v1().refunds().create(params).getStatus();
                  } catch (InvalidRequestException e) {
                    return e.getCode();
                  }
                })
            .valuesOrThrow();
    assertThat(ends).containsOnlyOnce("succeeded");
    assertThat(ends).filteredOn("charge_already_refunded"::equals).hasSize(7);
    List<Refund> refunds =
        stripe
            .v1()
            .refunds()
            .list(RefundListParams.builder().setPaymentIntent(id).build())
            .getData();
    assertThat(refunds).hasSize(1);
    assertThat(refunds.get(0).getAmount()).isEqualTo(500);
    assertThat(stripe.v1().refunds().retrieve(refunds.get(0).getId()).getPaymentIntent())
        .isEqualTo(id);
  }

  @Test
  void partsGoBackUntilNothingIsLeft() throws StripeException {
    String id = stripe.v1().paymentIntents().create(TestGateway.paying("pm_card_visa")).getId();
    RefundCreateParams three =
        RefundCreateParams.builder().setPaymentIntent(id).setAmount(300L).build();
    assertThat(stripe.v1().refunds().create(three).getAmount()).isEqualTo(300);
    InvalidRequestException tooMuch =
        catchThrowableOfType(
            InvalidRequestException.class, () -> stripe.v1().refunds().create(three));
    assertThat(tooMuch.getCode()).isEqualTo("amount_too_large");
    RefundCreateParams rest = RefundCreateParams.builder().setPaymentIntent(id).build();
    assertThat(stripe.v1().refunds().create(rest).getAmount()).isEqualTo(200);
  }

  @Test
  void whatWasNotPaidCannotGoBack() throws StripeException {
    String id = stripe.v1().paymentIntents().create(TestGateway.unpaid()).getId();
    InvalidRequestException refused =
        catchThrowableOfType(
            InvalidRequestException.class,
            () ->
                stripe
                    .v1()
                    .refunds()
                    .create(RefundCreateParams.builder().setPaymentIntent(id).build()));
    assertThat(refused.getCode()).isEqualTo("payment_intent_unexpected_state");
  }

  private static String confirm(StripeClient client, String id) throws StripeException {
    try {
      return client.v1().paymentIntents().confirm(id).getStatus();
    } catch (InvalidRequestException e) {
      return "refused";
    }
  }

  private static String cancel(StripeClient client, String id) throws StripeException {
    try {
      return client.v1().paymentIntents().cancel(id).getStatus();
    } catch (InvalidRequestException e) {
      return "refused";
    }
  }
}
