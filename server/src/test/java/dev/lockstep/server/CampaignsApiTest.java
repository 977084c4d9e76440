package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.layer;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Campaigns over HTTP: made, published, watched, stopped. */
@Timeout(120)
class CampaignsApiTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @Test
  void aTriangleOfFiftyHasOneThousandTwoHundredAndSeventyFivePositions() throws Exception {
    String id = server.triangle(50, null);
    JsonObject campaign = server.anyone().get("/v1/campaigns/" + id).expect(200);
    assertThat(campaign.getInteger("total")).isEqualTo(1_275);
    assertThat(campaign.getInteger("free")).isEqualTo(1_275);
    assertThat(campaign.getJsonArray("layers")).hasSize(50);
    JsonArray positions =
        server.anyone().get("/v1/campaigns/" + id + "/positions").expect(200).getJsonArray("items");
    assertThat(positions).hasSize(1_275);
    assertThat(positions.getJsonObject(1_274))
        .isEqualTo(
            new JsonObject()
                .put("layer", 50)
                .put("row", 50)
                .put("column", 50)
                .put("state", "free"));
  }

  @Test
  void aCampaignGoesFromDraftToPublishedToClosed() throws Exception {
    Client operator = server.operator();
    JsonObject draft =
        operator
            .post(
                "/v1/campaigns",
                triangle()
                    .put("layerPrices", new JsonArray().add(900).add(700).add(500))
                    .put(
                        "prizes",
                        new JsonArray()
                            .add(new JsonObject().put("name", "Car").put("quantity", 1))))
            .expect(201);
    String path = "/v1/campaigns/" + draft.getString("id");
    assertThat(draft.getString("status")).isEqualTo("draft");
    assertThat(draft.getValue("seedCommitment")).isNull();
    assertThat(draft.getJsonArray("layers").getJsonObject(0).getInteger("price")).isEqualTo(900);
    operator.post(path + "/pause", null).expectProblem(409, "campaign-not-open");
    operator
        .post(path + "/holds", "k", cart("a", layer(1, 1)))
        .expectProblem(409, "campaign-not-open");

    JsonObject published = operator.post(path + "/publish", null).expect(200);
    assertThat(published.getString("status")).isEqualTo("published");
    assertThat(published.getString("seedCommitment")).isEqualTo(commitment(draft.getString("id")));
    operator.post(path + "/publish", null).expectProblem(409, "campaign-not-draft");

    JsonObject paused =
        operator.post(path + "/pause", new JsonObject().put("reason", "Rain")).expect(200);
    assertThat(paused.getBoolean("paused")).isTrue();
    assertThat(paused.getString("pauseReason")).isEqualTo("Rain");
    assertThat(operator.post(path + "/resume", null).expect(200).getBoolean("paused")).isFalse();

    assertThat(operator.post(path + "/close", null).expect(200).getString("status"))
        .isEqualTo("closed");
    operator.post(path + "/close", null).expect(200);
    operator.post(path + "/resume", null).expectProblem(409, "campaign-not-open");
    assertThat(
            server
                .database()
                .query(
                    "SELECT action FROM lockstep_server.campaign_action WHERE campaign = ? ORDER BY id",
                    row -> row.getString(1),
                    Long.parseLong(draft.getString("id"))))
        .containsExactly("create", "publish", "pause", "resume", "close");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "baseLength  | 2            | baseLength",
        "baseLength  | 51           | baseLength",
        "baseLength  | 3.5          | baseLength",
        "baseLength  | \"3\"        | baseLength",
        "name        | \"\"         | name",
        "name        | \" \"        | name",
        "name        | null         | name",
        "currency    | \"yen\"      | currency",
        "currency    | \"XXX\"      | currency",
        "currency    | \"QQQ\"      | currency",
        "price       | 0            | price",
        "price       | -5           | price",
        "price       | 100000000    | price",
        "price       | 99999999999999999999 | price",
        "layerPrices | [1,2,3]      | price",
        "purchaseLimit | 0          | purchaseLimit",
        "holdSeconds | 0            | holdSeconds",
        "holdSeconds | 86401        | holdSeconds",
        "maxExtensions | -1         | maxExtensions",
        "maxExtensions | 101        | maxExtensions",
        "maxHoldSeconds | 899       | maxHoldSeconds",
        "maxHoldSeconds | 172801    | maxHoldSeconds",
        "prizes      | [{\"name\":\"x\",\"quantity\":7}] | prizes",
        "prizes      | [{\"name\":\"x\"}] | prizes[0].quantity",
        "kind        | \"square\"   | kind",
      })
  void whatCannotBeIsRefusedByName(String field, String value, String blamed) throws Exception {
    JsonObject body = triangle().put("price", 500);
    body.put(field, new JsonObject("{\"v\":" + value + "}").getValue("v"));
    JsonObject problem =
        server.operator().post("/v1/campaigns", body).expectProblem(400, "invalid-request");
    assertThat(problem.getString("field")).isEqualTo(blamed);
  }

  @Test
  void furtherThingsThatCannotBe() throws Exception {
    Client operator = server.operator();
    operator.post("/v1/campaigns", triangle()).expectProblem(400, "invalid-request");
    operator
        .post("/v1/campaigns", triangle().put("layerPrices", new JsonArray().add(1).add(2)))
        .expectProblem(400, "invalid-request");
    operator
        .post("/v1/campaigns", triangle().put("price", 5).put("colour", "red"))
        .expectProblem(400, "unknown-field");
    JsonObject twice = RunningServer.dropOf(1);
    twice.getJsonArray("products").add(twice.getJsonArray("products").getJsonObject(0).copy());
    assertThat(
            operator
                .post("/v1/campaigns", twice)
                .expectProblem(400, "invalid-request")
                .getString("field"))
        .isEqualTo("products[1].sku");
    server.anyone().get("/v1/campaigns/0").expectProblem(404, "not-found");
    server.anyone().get("/v1/campaigns/abc").expectProblem(404, "not-found");
    server.anyone().get("/v1/campaigns/999999/live").expectProblem(404, "not-found");
  }

  @Test
  void theAuditShowsEveryChangeOldestFirstPageByPage() throws Exception {
    Client shop = server.service();
    String id = server.triangle(3, null);
    List<String> holds = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      holds.add(
          shop.post("/v1/campaigns/" + id + "/holds", "a" + i, cart("b", layer(i + 1, 1)))
              .expect(201)
              .getString("id"));
    }
    shop.delete("/v1/holds/" + holds.get(0)).expect(200);

    List<String> seen = new ArrayList<>();
    String next = "";
    while (next != null) {
      JsonObject page =
          server.operator().get("/v1/campaigns/" + id + "/audit?limit=3" + next).expect(200);
      for (Object item : page.getJsonArray("items")) {
        JsonObject change = (JsonObject) item;
        seen.add(
            change.getString("cause")
                + " "
                + change.getString("pool")
                + " "
                + change.getInteger("seq")
                + " "
                + change.getString("hold"));
      }
      next = page.getString("next") == null ? null : "&after=" + page.getString("next");
    }

    assertThat(seen)
        .containsExactly(
            "acquired 1 1 " + holds.get(0),
            "acquired 2 1 " + holds.get(1),
            "acquired 3 1 " + holds.get(2),
            "released 1 2 " + holds.get(0));
    server
        .operator()
        .get("/v1/campaigns/" + id + "/audit?after=nonsense")
        .expectProblem(400, "invalid-request");
  }

  @Test
  void aWatcherSeesEveryCountThatStays() throws Exception {
    Client shop = server.service();
    String id = server.triangle(3, null);
    try (BufferedReader events = watch(id, "")) {
      JsonObject first = nextStock(events).data();
      assertThat(first.getInteger("held")).isZero();

      shop.post("/v1/campaigns/" + id + "/holds", "w", cart("b", layer(3, 2))).expect(201);
      Stock second = nextStock(events);
      assertThat(second.data().getInteger("held")).isEqualTo(2);

      server
          .operator()
          .post("/v1/campaigns/" + id + "/pause", new JsonObject().put("reason", "Rain"))
          .expect(200);
      Stock third = nextStock(events);
      assertThat(third.data().getString("pauseReason")).isEqualTo("Rain");

      // Whoever has seen the latest is sent nothing until there is something new.
      try (BufferedReader back = watch(id, third.id())) {
        server.operator().post("/v1/campaigns/" + id + "/resume", null).expect(200);
        assertThat(nextStock(back).data().getBoolean("paused")).isFalse();
      }
      // Whoever comes back with an older one is sent the latest at once.
      try (BufferedReader late = watch(id, third.id())) {
        assertThat(nextStock(late).data().getBoolean("paused")).isFalse();
      }
    }
  }

  /** Anybody may ask for a thousand; a statement for each would take the threads of buyers. */
  @Test
  void thePoolsOfAPageAreReadInOneStatement() throws Exception {
    for (int i = 0; i < 5; i++) {
      server.drop(5, null);
    }
    StatementLog log = new StatementLog(server.database());
    try (Server other = server.start(false)) {
      JsonObject page =
          new Client(other.url(), Optional.empty()).get("/v1/campaigns?limit=1000").expect(200);
      assertThat(page.getJsonArray("items").size()).isGreaterThanOrEqualTo(5);
    }
    List<List<String>> lists =
        log.transactions().stream()
            .filter(all -> all.stream().anyMatch(sql -> sql.contains("ORDER BY id LIMIT")))
            .filter(all -> all.stream().anyMatch(sql -> sql.contains("FROM lockstep.pool")))
            .toList();
    assertThat(lists).hasSize(1);
    assertThat(lists.get(0)).filteredOn(sql -> sql.contains("FROM lockstep.pool")).hasSize(1);
  }

  @Test
  void campaignsAreListedPageByPage() throws Exception {
    server.drop(1, null);
    server.drop(2, null);
    JsonObject first = server.anyone().get("/v1/campaigns?limit=1").expect(200);
    JsonObject second =
        server.anyone().get("/v1/campaigns?limit=1&after=" + first.getString("next")).expect(200);
    assertThat(second.getJsonArray("items"))
        .hasSize(1)
        .doesNotContainAnyElementsOf(first.getJsonArray("items"));
    server.anyone().get("/v1/campaigns?after=x").expectProblem(400, "invalid-request");
  }

  private record Stock(String id, JsonObject data) {}

  private static BufferedReader watch(String campaign, String lastEventId) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(server.url() + "/v1/campaigns/" + campaign + "/live"));
    if (!lastEventId.isEmpty()) {
      request.header("Last-Event-ID", lastEventId);
    }
    HttpResponse<InputStream> response =
        HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    assertThat(response.headers().firstValue("Content-Type")).hasValue("text/event-stream");
    return new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
  }

  /** Reading blocks until the event is there. */
  private static Stock nextStock(BufferedReader events) throws Exception {
    String line = events.readLine();
    while (!"event: stock".equals(line)) {
      assertThat(line).as("the stream ended").isNotNull();
      line = events.readLine();
    }
    String id = events.readLine().substring("id: ".length());
    return new Stock(id, new JsonObject(events.readLine().substring("data: ".length())));
  }

  private static String commitment(String campaign) throws Exception {
    byte[] seed =
        server
            .database()
            .query(
                "SELECT seed FROM lockstep_server.campaign WHERE id = ?",
                row -> row.getBytes(1),
                Long.parseLong(campaign))
            .get(0);
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(seed));
  }

  private static JsonObject triangle() {
    return new JsonObject()
        .put("kind", "triangle")
        .put("name", "T")
        .put("currency", "JPY")
        .put("baseLength", 3);
  }
}
