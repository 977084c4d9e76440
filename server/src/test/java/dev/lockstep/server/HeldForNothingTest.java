package dev.lockstep.server;

import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who does not buy cannot keep others from buying for longer than the campaign says. */
@Timeout(60)
class HeldForNothingTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final JsonObject ONE =
      new JsonObject().put("items", new JsonArray().add(sku("A", 1)));

  @Test
  void aBuyerAndAVisitorExtendOnceByTheTimeOfAHoldAndNoMore() throws Exception {
    String campaign = server.published(RunningServer.dropOf(10).put("holdSeconds", 60));
    for (Client buyer : List.of(server.buyer("alice"), server.visitor())) {
      JsonObject taken = buyer.post(holds(campaign), "take", ONE).expect(201);
      String path = "/v1/holds/" + taken.getString("id");

      JsonObject tooLong =
          buyer
              .post(path + "/extend", new JsonObject().put("seconds", 86_400))
              .expectProblem(409, "extension-limit");
      assertThat(tooLong.getInteger("maxSeconds")).isEqualTo(60);
      assertThat(buyer.get(path).expect(200)).as("nothing changed").isEqualTo(taken);

      JsonObject extended = buyer.post(path + "/extend", null).expect(200);
      assertThat(extended.getInteger("extensions")).isEqualTo(1);
      assertThat(lifetime(extended)).isBetween(Duration.ofSeconds(60), Duration.ofSeconds(120));
      for (String key : List.of("k1", "k2")) {
        JsonObject refused =
            buyer
                .post(path + "/extend", key, new JsonObject())
                .expectProblem(409, "extension-limit");
        assertThat(refused.getInteger("maxExtensions")).isEqualTo(1);
        assertThat(refused.getInteger("extensions")).isEqualTo(1);
      }
      JsonObject changed = buyer.put(path, ONE).expect(200);
      assertThat(changed.getString("expiresAt"))
          .as("a change gives no time")
          .isEqualTo(extended.getString("expiresAt"));
      assertThat(buyer.get(path).expect(200)).isEqualTo(extended);
    }
  }

  @Test
  void ofManyExtensionsAtOnceOnlyAsManySucceedAsTheCampaignAllows() throws Exception {
    String campaign = server.published(RunningServer.dropOf(10).put("maxExtensions", 2));
    Client alice = server.buyer("alice");
    String path = "/v1/holds/" + alice.post(holds(campaign), "t", ONE).expect(201).getString("id");

    List<Reply> replies =
        Race.<Reply>of(12)
            .run(
                i ->
                    i % 2 == 0
                        ? alice.post(path + "/extend", null)
                        : alice.post(path + "/extend", "key-" + i, new JsonObject()))
            .valuesOrThrow();

    // Some are decided together, at one time: the second of those asks for what it has already.
    Set<String> ends = new HashSet<>();
    for (Reply reply : replies) {
      if (reply.status() == 200) {
        ends.add(reply.expect(200).getString("expiresAt"));
      } else {
        reply.expectProblem(409, "extension-limit");
      }
    }
    assertThat(ends).hasSizeBetween(1, 2);
    assertThat(alice.get(path).expect(200).getInteger("extensions")).isEqualTo(ends.size());
    if (ends.size() == 1) {
      alice.post(path + "/extend", null).expect(200);
    }
    alice.post(path + "/extend", null).expectProblem(409, "extension-limit");
  }

  @Test
  void aCampaignSaysHowOftenAndHowLongInAll() throws Exception {
    String never = server.published(RunningServer.dropOf(10).put("maxExtensions", 0));
    String short_ =
        server.published(
            RunningServer.dropOf(10)
                .put("holdSeconds", 60)
                .put("maxExtensions", 5)
                .put("maxHoldSeconds", 60));
    Client alice = server.buyer("alice");
    String first = "/v1/holds/" + alice.post(holds(never), "a", ONE).expect(201).getString("id");
    String second = "/v1/holds/" + alice.post(holds(short_), "b", ONE).expect(201).getString("id");

    alice.post(first + "/extend", null).expectProblem(409, "extension-limit");
    alice.post(second + "/extend", null).expectProblem(409, "hold-lifetime-reached");

    JsonObject shown = alice.get("/v1/campaigns/" + short_).expect(200);
    assertThat(shown.getInteger("maxExtensions")).isEqualTo(5);
    assertThat(shown.getInteger("maxHoldSeconds")).isEqualTo(60);
    JsonObject byDefault = alice.get("/v1/campaigns/" + server.drop(1, null)).expect(200);
    assertThat(byDefault.getInteger("maxExtensions")).isEqualTo(1);
    assertThat(byDefault.getInteger("maxHoldSeconds")).isEqualTo(1_800);
    server
        .operator()
        .post(
            "/v1/campaigns",
            RunningServer.dropOf(1).put("holdSeconds", 60).put("maxHoldSeconds", 59))
        .expectProblem(400, "invalid-request");
  }

  @Test
  void anOperatorAndAServiceExtendAsTheySeeFit() throws Exception {
    String campaign = server.published(RunningServer.dropOf(10).put("holdSeconds", 60));
    Client alice = server.buyer("alice");
    String path = "/v1/holds/" + alice.post(holds(campaign), "t", ONE).expect(201).getString("id");

    for (int hours = 1; hours <= 3; hours++) {
      JsonObject longer = new JsonObject().put("seconds", hours * 3_600);
      JsonObject extended =
          (hours == 2 ? server.operator() : server.service())
              .post(path + "/extend", longer)
              .expect(200);
      assertThat(extended.getInteger("extensions")).as("these do not count").isZero();
      assertThat(lifetime(extended)).isGreaterThanOrEqualTo(Duration.ofHours(hours));
    }
  }

  @Test
  void aHoldInCheckoutIsNotExtendedByAKeyedRequestEither() throws Exception {
    String campaign = server.drop(10, null);
    Client alice = server.buyer("alice");
    String path = "/v1/holds/" + alice.post(holds(campaign), "t", ONE).expect(201).getString("id");
    alice.post(path + "/extend", null).expect(200);
    JsonObject challenge = new JsonObject().put("paymentMethod", "pm_card_authenticationRequired");
    JsonObject waiting = alice.post(path + "/checkout", "c", challenge).expect(202);
    assertThat(waiting.getString("status"))
        .as("the saga's own extension is not the buyer's")
        .isEqualTo("requiresAction");

    server
        .service()
        .post(path + "/extend", "keyed", new JsonObject().put("seconds", 86_400))
        .expectProblem(409, "hold-in-checkout");
  }

  /** G2: while somebody else has an expired hold locked, nobody can say that all is sold. */
  @Test
  void whileAnExpiredHoldIsLockedABuyerIsToldToTryAgain() throws Exception {
    String campaign = server.drop(1, null);
    Client shop = server.service();
    shop.post(holds(campaign), "t", ONE.copy().put("buyer", "alice")).expect(201);

    try (Connection connection = server.database().connection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute(
          "UPDATE lockstep.hold SET created_at = created_at - interval '1 hour',"
              + " expires_at = now() - interval '1 second' WHERE scope = "
              + campaign);
      connection.commit();
      statement.execute("SELECT 1 FROM lockstep.hold WHERE scope = " + campaign + " FOR UPDATE");
      Reply refused = shop.post(holds(campaign), "next", ONE.copy().put("buyer", "bob"));
      refused.expectProblem(503, "unavailable");
      assertThat(refused.header("Retry-After")).contains("1");
      connection.rollback();
    }
    shop.post(holds(campaign), "next", ONE.copy().put("buyer", "bob")).expect(201);
  }

  private static String holds(String campaign) {
    return "/v1/campaigns/" + campaign + "/holds";
  }

  private static Duration lifetime(JsonObject hold) {
    return Duration.between(
        Instant.parse(hold.getString("createdAt")), Instant.parse(hold.getString("expiresAt")));
  }
}
