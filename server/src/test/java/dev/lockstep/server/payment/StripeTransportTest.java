package dev.lockstep.server.payment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.stripe.exception.StripeException;
import com.stripe.net.ApiMode;
import com.stripe.net.ApiResource.RequestMethod;
import com.stripe.net.RequestOptions;
import com.stripe.net.StripeRequest;
import io.vertx.core.http.HttpServerResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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

  /** Whatever arrives puts off the end of a silence, so it would never end by itself. */
  @Test
  void anAnswerThatGoesOnAndOnGivesItsConnectionBackWhenItsTimeIsUp() throws Exception {
    CountDownLatch gone = new CountDownLatch(1);
    ScriptedProvider endless =
        new ScriptedProvider(
            request -> {
              HttpServerResponse response = request.response().setChunked(true);
              response.closeHandler(closed -> gone.countDown());
              provider
                  .vertx()
                  .setPeriodic(
                      50,
                      timer -> {
                        if (!response.closed()) {
                          var unused = response.write(" ");
                        }
                      });
            });
    PaymentsConfig config =
        PaymentsConfig.of(endless.url(), "sk_test_1").withAnswerTimeout(Duration.ofSeconds(1));
    try (StripeTransport transport = new StripeTransport(provider.vertx(), config)) {
      assertThatThrownBy(() -> ask(transport, endless, 1)).hasMessageContaining("in time");
      assertThat(gone.await(30, TimeUnit.SECONDS)).as("the connection has ended").isTrue();
    } finally {
      endless.stop();
    }
  }

  private List<String> ask(StripeTransport transport, int times) throws StripeException {
    return ask(transport, provider, times);
  }

  private static List<String> ask(StripeTransport transport, ScriptedProvider whom, int times)
      throws StripeException {
    List<String> answers = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      answers.add(
          transport
              .request(
                  StripeRequest.create(
                      RequestMethod.GET,
                      whom.url() + "/v1/payment_intents/pi_1",
                      null,
                      RequestOptions.builder().setApiKey("sk_test_1").build(),
                      ApiMode.V1))
              .body());
    }
    return answers;
  }
}
