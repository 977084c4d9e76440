package dev.lockstep.server.payment;

import static org.assertj.core.api.Assertions.assertThat;

import com.stripe.exception.StripeException;
import com.stripe.net.ApiMode;
import com.stripe.net.ApiResource.RequestMethod;
import com.stripe.net.RequestOptions;
import com.stripe.net.StripeRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every answer that was sent arrives. */
class StripeTransportTest {
  private static final String INTENT = "{\"object\":\"payment_intent\",\"id\":\"pi_1\"}";

  private ScriptedProvider provider;

  @BeforeEach
  void listen() throws Exception {
    provider = new ScriptedProvider(request -> request.response().end(INTENT));
  }

  @AfterEach
  void stop() throws Exception {
    provider.stop();
  }

  /**
   * Of a lone caller's answers some are there, whole, before the caller's thread has come to asking
   * for them: one in two thousand, seen on two cores.
   */
  @Test
  void anAnswerThatIsThereBeforeItIsAskedForIsNotMissed() throws Exception {
    PaymentsConfig config =
        PaymentsConfig.of(provider.url(), "sk_test_1").withAnswerTimeout(Duration.ofSeconds(5));
    try (StripeTransport transport = new StripeTransport(provider.vertx(), config)) {
      assertThat(ask(transport, 5_000)).hasSize(5_000).containsOnly(INTENT);
    }
  }

  private List<String> ask(StripeTransport transport, int times) throws StripeException {
    List<String> answers = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      answers.add(
          transport
              .request(
                  StripeRequest.create(
                      RequestMethod.GET,
                      provider.url() + "/v1/payment_intents/pi_1",
                      null,
                      RequestOptions.builder().setApiKey("sk_test_1").build(),
                      ApiMode.V1))
              .body());
    }
    return answers;
  }
}
