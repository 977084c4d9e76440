package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Await;
import dev.lockstep.server.Client;
import dev.lockstep.server.MoneyAndGoods;
import dev.lockstep.server.RunningServer;
import dev.lockstep.server.Server;
import dev.lockstep.server.StreamStage;
import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A triangle from the first sale to its winners, over HTTP, on two nodes, with real payments. */
@Timeout(180)
class DrawnSaleTest {
  @RegisterExtension static final RunningServer server = new RunningServer();
  @RegisterExtension static final StreamStage streams = new StreamStage(server);

  private static final int BASE = 10;
  private static final int POSITIONS = 55;
  private static final int BUYERS = 500;

  @Test
  void fiveHundredBuyersSellOutATriangleThatIsDrawnOnceAndVerifies() throws Exception {
    String campaign = server.published(triangle());
    List<Client.Reply> replies;
    try (Server other = server.start(false)) {
      List<Client> nodes =
          List.of(server.operator(), new Client(other.url(), server.operator().key()));
      replies =
          Race.<Client.Reply>of(BUYERS)
              .run(i -> nodes.get(i % 2).post(path(campaign, "purchases"), "k" + i, order(i)))
              .valuesOrThrow();
    }

    Map<JsonObject, String> sold = new HashMap<>();
    for (Client.Reply reply : replies) {
      if (reply.status() == 201) {
        JsonObject purchase = reply.json();
        sold.put(purchase.getJsonArray("positions").getJsonObject(0), purchase.getString("id"));
      } else {
        reply.expectProblem(409, "sold-out");
      }
    }
    assertThat(sold).hasSize(POSITIONS);
    assertThat(server.anyone().get("/v1/campaigns/" + campaign).expect(200).getString("status"))
        .isEqualTo("drawn");
    JsonObject draw = server.anyone().get(path(campaign, "draw")).expect(200);
    Map<JsonObject, String> entrants = new HashMap<>();
    for (Object entrant : draw.getJsonArray("entrants")) {
      JsonObject json = (JsonObject) entrant;
      entrants.put(json.getJsonObject("position"), json.getString("purchase"));
    }
    assertThat(entrants).isEqualTo(sold);
    assertThat(draw.getJsonArray("winners")).hasSize(6);
    assertThat(verifyDraw(server.url() + path(campaign, "draw"))).isZero();
  }

  @Test
  void aPurchaseRefundedBeforeTheDrawIsNoEntrantAndOneRefundedAfterItStaysAWinner()
      throws Exception {
    String campaign = server.published(triangle().put("baseLength", 3));
    List<String> purchases = new ArrayList<>();
    for (int layer : List.of(1, 2, 2, 3, 3)) {
      purchases.add(buy(campaign, layer, purchases.size()));
    }
    refund(purchases.get(0));
    buy(campaign, 3, purchases.size());
    assertThat(server.anyone().get(path(campaign, "draw")).expect(200).getString("status"))
        .as("the apex came back and is not sold yet")
        .isEqualTo("pending");

    String last = buy(campaign, 1, purchases.size() + 1);

    JsonObject draw = server.anyone().get(path(campaign, "draw")).expect(200);
    assertThat(draw.getString("status")).isEqualTo("drawn");
    assertThat(draw.getJsonArray("entrants")).hasSize(6);
    assertThat(draw.encode()).contains(last).doesNotContain(purchases.get(0));
    refund(last);
    JsonObject drawn = server.anyone().get("/v1/campaigns/" + campaign).expect(200);
    assertThat(drawn.getInteger("sold")).as("the draw rests on it").isEqualTo(6);
    assertThat(server.anyone().get(path(campaign, "draw")).expect(200)).isEqualTo(draw);
    assertThat(verifyDraw(server.url() + path(campaign, "draw"))).isZero();
  }

  /** Either the draw finds everything sold, and it stays so; or it finds that something is free. */
  @Test
  void ofTheLastSaleAndARefundThatMeetOneSeesTheOther() throws Exception {
    for (int round = 0; round < 8; round++) {
      String campaign = server.published(triangle().put("baseLength", 3));
      List<String> purchases = new ArrayList<>();
      for (int layer : List.of(1, 2, 2, 3, 3)) {
        purchases.add(buy(campaign, layer, purchases.size()));
      }

      Race.<Boolean>of(2)
          .run(
              i -> {
                if (i == 0) {
                  buy(campaign, 3, purchases.size());
                } else {
                  refund(purchases.get(0));
                }
                return true;
              })
          .valuesOrThrow();

      JsonObject after = server.anyone().get("/v1/campaigns/" + campaign).expect(200);
      boolean drawn = after.getString("status").equals("drawn");
      assertThat(after.getInteger("sold")).isEqualTo(drawn ? 6 : 5);
      MoneyAndGoods.in(server, campaign).agree(5);
    }
  }

  @Test
  void aSaleTellsItsStreamWhatHappenedInTheOrderOfItsCommits() throws Exception {
    Client shop = server.service();
    Client operator = server.operator();
    String before = server.drop(1, null);
    shop.post(
            "/v1/campaigns/" + before + "/purchases",
            "s0",
            Client.order("b", "pm_card_visa", Client.sku("A", 1)))
        .expect(201);
    assertThat(streams.events("sales", before)).isEmpty();

    streams.define("sales", streams.webhook("a", "/sales"));
    String triangle =
        server.published(
            new JsonObject()
                .put("kind", "triangle")
                .put("name", "A triangle")
                .put("currency", "JPY")
                .put("baseLength", 3)
                .put("price", 500));
    for (int layer = 1; layer <= 3; layer++) {
      for (int i = 0; i < layer; i++) {
        shop.post(
                "/v1/campaigns/" + triangle + "/purchases",
                "s" + layer + i,
                Client.order("b", layer, "pm_card_visa"))
            .expect(201);
      }
    }
    String drop = server.drop(2, null);
    JsonObject purchase =
        shop.post(
                "/v1/campaigns/" + drop + "/purchases",
                "d",
                Client.order("b", "pm_card_visa", Client.sku("A", 2)))
            .expect(201);
    operator.post("/v1/purchases/" + purchase.getString("id") + "/refund", "r", null).expect(200);
    operator.post("/v1/campaigns/" + drop + "/close", null).expect(200);

    Await.until(
        "the draw is told", () -> streams.types("/sales", triangle).contains("campaign.drawn"));
    assertThat(streams.types("/sales", triangle))
        .containsExactly(
            "campaign.published",
            "purchase.completed",
            "purchase.completed",
            "purchase.completed",
            "purchase.completed",
            "purchase.completed",
            "purchase.completed",
            "campaign.soldOut",
            "campaign.drawn");
    assertThat(streams.arrived("/sales", triangle))
        .isEqualTo(LongStream.rangeClosed(1, 9).boxed().toList());
    Await.until("the end is told", () -> streams.types("/sales", drop).contains("campaign.closed"));
    assertThat(streams.types("/sales", drop))
        .containsExactly(
            "campaign.published",
            "purchase.completed",
            "campaign.soldOut",
            "purchase.refunded",
            "campaign.closed");
    JsonObject told =
        new JsonObject(streams.events("sales", drop).get(1).getJsonObject("data").encode());
    assertThat(told.getString("id")).isEqualTo(purchase.getString("id"));
    assertThat(told.getString("status")).isEqualTo("completed");
    assertThat(told.getJsonObject("total").getInteger("amount")).isEqualTo(500);

    streams.define("sales");
    String after = server.drop(1, null);
    shop.post(
            "/v1/campaigns/" + after + "/purchases",
            "s9",
            Client.order("b", "pm_card_visa", Client.sku("A", 1)))
        .expect(201);
    assertThat(streams.events("sales", after)).isEmpty();
  }

  private static JsonObject triangle() {
    return new JsonObject()
        .put("kind", "triangle")
        .put("name", "A triangle")
        .put("currency", "JPY")
        .put("baseLength", BASE)
        .put("price", 500)
        .put(
            "prizes",
            new JsonArray()
                .add(new JsonObject().put("name", "Grand prize").put("quantity", 1))
                .add(new JsonObject().put("name", "Runner-up").put("quantity", 5)));
  }

  /** Nine buyers for each position, so that each layer has more of them than positions. */
  private static JsonObject order(int buyer) {
    int position = buyer % POSITIONS;
    int layer = 1;
    while (position >= layer) {
      position -= layer++;
    }
    return order("b" + buyer, layer);
  }

  private static JsonObject order(String buyer, int layer) {
    return new JsonObject()
        .put("buyer", buyer)
        .put("layer", layer)
        .put("paymentMethod", "pm_card_visa");
  }

  private static String buy(String campaign, int layer, int number) throws Exception {
    return server
        .operator()
        .post(path(campaign, "purchases"), campaign + "-" + number, order("b" + number, layer))
        .expect(201)
        .getString("id");
  }

  private static void refund(String purchase) throws Exception {
    server
        .operator()
        .post("/v1/purchases/" + purchase + "/refund", "refund " + purchase, null)
        .expect(200);
  }

  private static int verifyDraw(String url) {
    return Ended.word("verify-draw", url).code();
  }

  private static String path(String campaign, String what) {
    return "/v1/campaigns/" + campaign + "/" + what;
  }
}
