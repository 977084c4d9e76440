package dev.lockstep.server.payment;

import static org.assertj.core.api.Assertions.assertThat;

import com.stripe.exception.StripeException;
import com.stripe.net.ApiMode;
import com.stripe.net.ApiResource.RequestMethod;
import com.stripe.net.RequestOptions;
import com.stripe.net.StripeRequest;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every answer that was sent arrives. */
class StripeTransportTest {
  private static final String INTENT = "{\"object\":\"payment_intent\",\"id\":\"pi_1\"}";

  private final Vertx vertx = Vertx.vertx();
  private URI provider;

  @BeforeEach
  void listen() throws Exception {
    HttpServer server =
        vertx.createHttpServer().requestHandler(request -> request.response().end(INTENT));
    server
        .listen(0, "127.0.0.1")
        .toCompletionStage()
        .toCompletableFuture()
        .get(10, TimeUnit.SECONDS);
    provider = URI.create("http://127.0.0.1:" + server.actualPort());
  }

  @AfterEach
  void stop() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  /**
   * Of a lone caller's answers some are there, whole, before the caller's thread has come to asking
   * for them: one in two thousand, seen on two cores.
   */
  @Test
  void anAnswerThatIsThereBeforeItIsAskedForIsNotMissed() throws Exception {
    PaymentsConfig config =
        PaymentsConfig.of(provider, "sk_test_1").withAnswerTimeout(Duration.ofSeconds(5));
    try (StripeTransport transport = new StripeTransport(vertx, config)) {
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
                      provider + "/v1/payment_intents/pi_1",
                      null,
                      RequestOptions.builder().setApiKey("sk_test_1").build(),
                      ApiMode.V1))
              .body());
    }
    return answers;
  }
}
