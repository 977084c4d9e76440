package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A request whose answer was lost is repeated with its Idempotency-Key, and gets its first answer:
 * also when such a request would be refused by now.
 */
@Timeout(120)
class RepeatedLaterTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @Test
  void aSaleOfAClosedCampaignIsRepeatedByANodeThatNeverSawItOpen() throws Exception {
    String campaign = server.drop(5, null);
    JsonObject held = server.operator().holdOne(campaign, "ann").expect(201);
    JsonObject bought = server.operator().buyOne(campaign, "bob").expect(201);
    server.operator().post("/v1/campaigns/" + campaign + "/close", null).expect(200);

    try (Server other = server.start(false)) {
      Client there = new Client(other.url(), Optional.of(RunningServer.OPERATOR_KEY));
      expectAgain(there.holdOne(campaign, "ann"), held);
      expectAgain(there.buyOne(campaign, "bob"), bought);
      for (Client late : new Client[] {there, server.operator()}) {
        JsonObject problem = late.holdOne(campaign, "late").expectProblem(409, "campaign-not-open");
        assertThat(problem.getString("campaignStatus")).isEqualTo("closed");
        late.buyOne(campaign, "later").expectProblem(409, "campaign-not-open");
      }
    }
  }

  @Test
  void aKeyThatHasExpiredSinceIsShownAgain() throws Exception {
    Instant end = Instant.now().plusSeconds(1);
    JsonObject key =
        new JsonObject()
            .put("role", "service")
            .put("name", "for a second")
            .put("expiresAt", end.toString());
    JsonObject made = server.operator().post("/v1/keys", "short", key).expect(201);
    passed(end, Duration.ZERO);

    Reply again = server.operator().post("/v1/keys", "short", key);
    assertThat(again.expect(201).getString("id")).isEqualTo(made.getString("id"));
    assertThat(again.replayed()).isTrue();
    for (String other : new String[] {"", "another"}) {
      JsonObject problem =
          (other.isEmpty()
                  ? server.operator().post("/v1/keys", key)
                  : server.operator().post("/v1/keys", other, key))
              .expectProblem(400, "invalid-request");
      assertThat(problem.getString("field")).isEqualTo("expiresAt");
    }
    assertThat(
            server.operator().get("/v1/keys").expect(200).getJsonArray("items").stream()
                .filter(one -> ((JsonObject) one).getString("name").equals("for a second")))
        .hasSize(1);
  }

  @Test
  void aScheduleWhoseTimeHasLongPassedSinceIsShownAgain() throws Exception {
    // An instant that has just passed is taken; a few seconds later it has long passed.
    Instant at = Instant.now().minusSeconds(57);
    JsonObject schedule =
        new JsonObject()
            .put("name", "a minute ago")
            .put("when", new JsonObject().put("at", at.toString()))
            .put("deliver", new JsonObject().put("webhook", "http://localhost:1/"));
    JsonObject made = server.operator().post("/v1/schedules", "past", schedule).expect(201);
    passed(at, Duration.ofMinutes(1));

    expectAgain(server.operator().post("/v1/schedules", "past", schedule), made);
    JsonObject problem =
        server
            .operator()
            .post("/v1/schedules", "another", schedule)
            .expectProblem(400, "invalid-request");
    assertThat(problem.getString("field")).isEqualTo("when.at");
    JsonArray all = server.operator().get("/v1/schedules").expect(200).getJsonArray("items");
    assertThat(all).hasSize(1);
  }

  /** On the database's clock. */
  private static void passed(Instant at, Duration by) throws Exception {
    Await.until(
        "the time has passed",
        () ->
            server
                    .database()
                    .queryLong(
                        "SELECT count(*) WHERE now() > ?::timestamptz", at.plus(by).toString())
                == 1);
  }

  private static void expectAgain(Reply again, JsonObject first) {
    assertThat(again.expect(201)).isEqualTo(first);
    assertThat(again.replayed()).isTrue();
  }
}
