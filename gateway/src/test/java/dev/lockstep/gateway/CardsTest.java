package dev.lockstep.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.stripe.StripeClient;
import com.stripe.exception.AuthenticationException;
import com.stripe.exception.CardException;
import com.stripe.exception.InvalidRequestException;
import com.stripe.exception.StripeException;
import com.stripe.model.PaymentIntent;
import com.stripe.net.ApiResource.RequestMethod;
import com.stripe.param.PaymentIntentConfirmParams;
import com.stripe.param.PaymentIntentCreateParams;
import com.stripe.param.PaymentIntentListParams;
import dev.lockstep.testkit.TestDatabase;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What each test card does, as stripe-java sees it. */
class CardsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static TestGateway gateway;
  private static StripeClient stripe;

  @BeforeAll
  static void start() {
    TestGateway.migrate(database);
    gateway = TestGateway.start(database);
    stripe = gateway.client();
  }

  @AfterAll
  static void stop() {
    gateway.close();
  }

  @Test
  void visaPays() throws StripeException {
    PaymentIntent paid = stripe.v1().paymentIntents().create(TestGateway.paying("pm_card_visa"));

    assertThat(paid.getStatus()).isEqualTo("succeeded");
    assertThat(paid.getAmountReceived()).isEqualTo(500);
    assertThat(paid.getCurrency()).isEqualTo("jpy");
    assertThat(paid.getLatestCharge()).startsWith("ch_");
    assertThat(paid.getMetadata()).containsEntry("purchase", "p-1");
    assertThat(paid.getLastResponse().requestId()).startsWith("req_");
    PaymentIntent found = stripe.v1().paymentIntents().retrieve(paid.getId());
    assertThat(found.toJson()).isEqualTo(paid.toJson());
  }

  @ParameterizedTest
  @CsvSource({
    "pm_card_chargeDeclined, generic_decline",
    "pm_card_visa_chargeDeclinedInsufficientFunds, insufficient_funds"
  })
  void aDeclinedCardLeavesTheIntentWaitingForAnother(String card, String declineCode)
      throws StripeException {
    CardException declined =
        catchThrowableOfType(
            CardException.class,
            () -> stripe.v1().paymentIntents().create(TestGateway.paying(card)));

    assertThat(declined.getStatusCode()).isEqualTo(402);
    assertThat(declined.getCode()).isEqualTo("card_declined");
    assertThat(declined.getDeclineCode()).isEqualTo(declineCode);
    PaymentIntent intent = declined.getStripeError().getPaymentIntent();
    assertThat(intent.getStatus()).isEqualTo("requires_payment_method");
    assertThat(intent.getLastPaymentError().getDeclineCode()).isEqualTo(declineCode);

    PaymentIntent paid =
        stripe
            .v1()
            .paymentIntents()
            .confirm(
                intent.getId(),
                PaymentIntentConfirmParams.builder().setPaymentMethod("pm_card_visa").build());
    assertThat(paid.getStatus()).isEqualTo("succeeded");
    assertThat(paid.getLastPaymentError()).isNull();
  }

  @Test
  void aPassedChallengePays() throws StripeException {
    PaymentIntent challenged =
        stripe.v1().paymentIntents().create(TestGateway.paying("pm_card_authenticationRequired"));
    assertThat(challenged.getStatus()).isEqualTo("requires_action");
    assertThat(challenged.getClientSecret()).startsWith(challenged.getId() + "_secret_");
    assertThat(challenged.getNextAction().getType()).isEqualTo("use_stripe_sdk");

    authenticate(challenged.getId(), "succeeded");

    assertThat(stripe.v1().paymentIntents().retrieve(challenged.getId()).getStatus())
        .isEqualTo("succeeded");
  }

  @Test
  void aFailedChallengeDoesNotPay() throws StripeException {
    PaymentIntent challenged =
        stripe.v1().paymentIntents().create(TestGateway.paying("pm_card_authenticationRequired"));

    assertThat(
            gateway.gateway().authenticate(challenged.getId(), false).toCompletableFuture().join())
        .isTrue();

    PaymentIntent after = stripe.v1().paymentIntents().retrieve(challenged.getId());
    assertThat(after.getStatus()).isEqualTo("requires_payment_method");
    assertThat(after.getLastPaymentError().getCode())
        .isEqualTo("payment_intent_authentication_failure");
  }

  @Test
  void aChallengeEndsOnce() throws StripeException {
    PaymentIntent challenged =
        stripe.v1().paymentIntents().create(TestGateway.paying("pm_card_authenticationRequired"));
    assertThat(
            gateway.gateway().authenticate(challenged.getId(), true).toCompletableFuture().join())
        .isTrue();
    assertThat(
            gateway.gateway().authenticate(challenged.getId(), false).toCompletableFuture().join())
        .isFalse();
    assertThat(stripe.v1().paymentIntents().retrieve(challenged.getId()).getStatus())
        .isEqualTo("succeeded");
  }

  @ParameterizedTest
  @CsvSource({
    "500, jpy, ''",
    "50, jpy, ''",
    "49, jpy, amount_too_small",
    "500, usd, ''",
    "49, usd, amount_too_small",
    "5120, kwd, ''",
    "5124, kwd, none",
    "500, isk, ''",
    "550, isk, none",
    "0, jpy, parameter_invalid_integer",
    "-5, jpy, parameter_invalid_integer",
    "99999999, usd, ''",
    "100000000, usd, amount_too_large",
    "500, xau, parameter_invalid_string",
    "500, abc, parameter_invalid_string"
  })
  void amountsAreCheckedAsTheCurrencyNeeds(long amount, String currency, String code)
      throws StripeException {
    PaymentIntentCreateParams params =
        PaymentIntentCreateParams.builder().setAmount(amount).setCurrency(currency).build();
    if (code.isEmpty()) {
      assertThat(stripe.v1().paymentIntents().create(params).getAmount()).isEqualTo(amount);
    } else {
      InvalidRequestException refused =
          catchThrowableOfType(
              InvalidRequestException.class, () -> stripe.v1().paymentIntents().create(params));
      assertThat(refused.getStatusCode()).isEqualTo(400);
      assertThat(refused.getCode() == null ? "none" : refused.getCode()).isEqualTo(code);
    }
  }

  @Test
  void whatIsMissingOrUnknownIsRefused() {
    InvalidRequestException noAmount =
        catchThrowableOfType(
            InvalidRequestException.class,
            () ->
                stripe
                    .v1()
                    .paymentIntents()
                    .create(PaymentIntentCreateParams.builder().setCurrency("jpy").build()));
    assertThat(noAmount.getCode()).isEqualTo("parameter_missing");
    assertThat(noAmount.getParam()).isEqualTo("amount");

    InvalidRequestException noCard =
        catchThrowableOfType(
            InvalidRequestException.class,
            () -> stripe.v1().paymentIntents().create(TestGateway.paying("pm_card_unheard_of")));
    assertThat(noCard.getCode()).isEqualTo("resource_missing");

    InvalidRequestException noIntent =
        catchThrowableOfType(
            InvalidRequestException.class, () -> stripe.v1().paymentIntents().retrieve("pi_no"));
    assertThat(noIntent.getStatusCode()).isEqualTo(404);
    assertThat(noIntent.getCode()).isEqualTo("resource_missing");
  }

  @Test
  void aWrongKeyIsRefused() {
    AuthenticationException refused =
        catchThrowableOfType(
            AuthenticationException.class,
            () ->
                gateway
                    .client("sk_test_other")
                    .v1()
                    .paymentIntents()
                    .create(TestGateway.paying("pm_card_visa")));
    assertThat(refused.getStatusCode()).isEqualTo(401);
  }

  @Test
  void theNewestComeFirstInAList() throws StripeException {
    String older = stripe.v1().paymentIntents().create(TestGateway.unpaid()).getId();
    String newer = stripe.v1().paymentIntents().create(TestGateway.unpaid()).getId();
    var first =
        stripe.v1().paymentIntents().list(PaymentIntentListParams.builder().setLimit(1L).build());
    assertThat(first.getHasMore()).isTrue();
    var second =
        stripe
            .v1()
            .paymentIntents()
            .list(
                PaymentIntentListParams.builder()
                    .setLimit(1L)
                    .setStartingAfter(first.getData().get(0).getId())
                    .build());
    // Two made in the same millisecond sort by chance, so only that both are there is certain.
    assertThat(first.getData().get(0).getId()).isIn(older, newer);
    assertThat(second.getData().get(0).getId()).isIn(older, newer);
    assertThat(second.getData().get(0).getId()).isNotEqualTo(first.getData().get(0).getId());
  }

  private static void authenticate(String intent, String outcome) throws StripeException {
    var unused =
        stripe.rawRequest(
            RequestMethod.POST,
            "/v1/test/payment_intents/" + intent + "/authenticate",
            "outcome=" + outcome);
  }
}
