package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.server.rate.Rate;
import dev.lockstep.server.rate.RateLimits;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The payment provider's events come from few addresses, many at once. The clock stands still. */
@Timeout(120)
class SignedEventsAreNotLimitedTest {
  private static final int BURST = 10;

  @RegisterExtension
  static final RunningServer server =
      new RunningServer()
          .behind(
              RunningServer.EDGE.withRates(
                  RateLimits.DEFAULT
                      .withUnknownKeys(new Rate(2, 4))
                      .withAnonymous(new Rate(5, BURST))));

  @BeforeEach
  void fillEveryBucket() {
    server.passSeconds(60);
  }

  @Test
  void genuineEventsAreTakenBeyondTheAnonymousLimitAndUseUpNothingOfIt() throws Exception {
    for (int i = 0; i < 3 * BURST; i++) {
      event(RunningServer.WEBHOOK_SECRET).expect(200);
    }
    for (int i = 0; i < BURST; i++) {
      server.anyone().get("/v1/campaigns").expect(200);
    }
  }

  @Test
  void genuineEventsAreTakenWhenOthersAtTheAddressHaveUsedUpTheLimit() throws Exception {
    for (int i = 0; i < BURST; i++) {
      server.anyone().get("/v1/campaigns").expect(200);
    }
    server.anyone().get("/v1/campaigns").expectProblem(429, "rate-limited");
    event(RunningServer.WEBHOOK_SECRET).expect(200);
    event("whsec_of_somebody_else").expectProblem(429, "rate-limited");
  }

  @Test
  void forgedEventsCountLikeAnyRequestWithoutAKey() throws Exception {
    for (int i = 0; i < BURST; i++) {
      event("whsec_of_somebody_else").expectProblem(400, "invalid-signature");
    }
    Reply refused = event("whsec_of_somebody_else");
    refused.expectProblem(429, "rate-limited");
    assertThat(refused.header("Retry-After")).hasValue("1");
    server.anyone().get("/v1/campaigns").expectProblem(429, "rate-limited");
    event(RunningServer.WEBHOOK_SECRET).expect(200);
  }

  @Test
  void eventsWithoutASignatureCountBeforeTheirBodyIsRead() throws Exception {
    for (int i = 0; i < BURST; i++) {
      server.anyone().post("/v1/webhooks/stripe", null).expectProblem(400, "invalid-signature");
    }
    server.anyone().post("/v1/webhooks/stripe", null).expectProblem(429, "rate-limited");
  }

  /** About nothing that this server sells: taken, and nothing follows from it. */
  private static Reply event(String secret) throws Exception {
    String body =
        new JsonObject()
            .put("id", "evt_1")
            .put("object", "event")
            .put("type", "payment_intent.succeeded")
            .put(
                "data",
                new JsonObject()
                    .put(
                        "object",
                        new JsonObject()
                            .put("id", "pi_1")
                            .put("object", "payment_intent")
                            .put("amount", 5)
                            .put("amount_received", 5)
                            .put("currency", "eur")
                            .put("status", "succeeded")
                            .put("metadata", new JsonObject())))
            .encode();
    return StripeEvents.send(server, body, StripeEvents.signature(body, secret, Instant.now()));
  }
}
