package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.layer;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the console asks for beyond what clients need: searches, and who did what and why. */
@Timeout(120)
class ConsoleApiTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @Test
  void holdsAreFoundByBuyerAndStateNewestFirst() throws Exception {
    String id = server.triangle(5, null);
    Client shop = server.service();
    List<String> made = new ArrayList<>();
    for (String buyer : List.of("ann", "bob", "ann", "ann")) {
      made.add(
          0,
          shop.post("/v1/campaigns/" + id + "/holds", "h" + made.size(), cart(buyer, layer(5, 1)))
              .expect(201)
              .getString("id"));
    }
    shop.delete("/v1/holds/" + made.get(0)).expect(200);

    assertThat(found("/v1/holds?campaign=" + id)).containsExactlyElementsOf(made);
    assertThat(found("/v1/holds?campaign=" + id + "&buyer=ann"))
        .containsExactly(made.get(0), made.get(1), made.get(3));
    assertThat(found("/v1/holds?campaign=" + id + "&buyer=ann&state=held"))
        .containsExactly(made.get(1), made.get(3));
    assertThat(found("/v1/holds?campaign=" + id + "&state=released")).containsExactly(made.get(0));
    assertThat(found("/v1/holds?campaign=" + id + "&buyer=nobody")).isEmpty();
  }

  @Test
  void whatIsDoneToJobsQueuesAndSchedulesIsKeptWithWhoAndWhy() throws Exception {
    Client operator = server.operator();
    JsonObject schedule =
        new JsonObject()
            .put("name", "A schedule")
            .put("when", new JsonObject().put("at", "2100-01-01T00:00:00Z"))
            .put("deliver", new JsonObject().put("webhook", "https://example.com/hook"));
    String path =
        "/v1/schedules/" + operator.post("/v1/schedules", schedule).expect(201).getString("id");
    operator.post("/v1/queues/upkeep/pause", because("stocktaking")).expect(200);
    operator.post("/v1/queues/upkeep/resume", because("counted")).expect(200);
    operator
        .post("/v1/queues/no-such/pause", because("never done"))
        .expectProblem(404, "not-found");
    String change = because("a new name").put("name", "Another").encode();
    operator.send("PATCH", path, change, Map.of("If-Match", "\"1\"")).expect(200);
    operator
        .send("PATCH", path, because("too late").encode(), Map.of("If-Match", "\"1\""))
        .expectProblem(412, "version-mismatch");
    operator.send("DELETE", path, because("over").encode(), Map.of()).expect(200);

    // What programs do leaves no row: nobody would remove it.
    Client shop = server.service();
    String another =
        "/v1/schedules/" + shop.post("/v1/schedules", schedule).expect(201).getString("id");
    String changed = new JsonObject().put("name", "Yet another").encode();
    shop.send("PATCH", another, changed, Map.of("If-Match", "\"1\"")).expect(200);
    shop.delete(another).expect(200);

    List<String> kept = new ArrayList<>();
    for (Object item : operator.get("/v1/job-actions?limit=5").expect(200).getJsonArray("items")) {
      JsonObject act = (JsonObject) item;
      assertThat(act.getString("actor")).isEqualTo("operator:configured");
      kept.add(act.getString("action") + ": " + act.getString("reason"));
    }
    assertThat(kept)
        .containsExactly(
            "delete schedule: over",
            "change schedule: a new name",
            "resume queue: counted",
            "pause queue: stocktaking",
            "make schedule: null");
  }

  @Test
  void aLongListOfHoldsIsReadPageByPage() throws Exception {
    String id = server.triangle(5, null);
    Client shop = server.service();
    for (int i = 0; i < 5; i++) {
      shop.post("/v1/campaigns/" + id + "/holds", "p" + i, cart("b" + i, layer(5, 1))).expect(201);
    }
    List<String> read = new ArrayList<>();
    String next = null;
    do {
      JsonObject page =
          server
              .operator()
              .get("/v1/holds?campaign=" + id + "&limit=2" + (next == null ? "" : "&after=" + next))
              .expect(200);
      page.getJsonArray("items").forEach(item -> read.add(((JsonObject) item).getString("buyer")));
      next = page.getString("next");
    } while (next != null);
    assertThat(read).containsExactly("b4", "b3", "b2", "b1", "b0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/holds",
        "/v1/holds?campaign=x",
        "/v1/holds?campaign=1&state=lost",
        "/v1/holds?campaign=1&buyer=",
        "/v1/holds?campaign=1&after=x",
        "/v1/keys?role=king"
      })
  void aSearchThatMakesNoSenseIsRefused(String path) throws Exception {
    server.triangle(3, null);
    server.operator().get(path).expectProblem(400, "invalid-request");
  }

  @Test
  void whatOperatorsDoIsKeptWithActorAndReason() throws Exception {
    Client operator = server.operator();
    String id = operator.post("/v1/campaigns", RunningServer.dropOf(3)).expect(201).getString("id");
    String path = "/v1/campaigns/" + id;
    operator.post(path + "/publish", because("The day has come")).expect(200);
    operator.post(path + "/pause", because("A leak in the roof")).expect(200);
    operator.post(path + "/resume", null).expect(200);
    operator.post(path + "/close", because("Over")).expect(200);

    JsonArray actions = operator.get(path + "/actions").expect(200).getJsonArray("items");
    assertThat(actions)
        .extracting(item -> ((JsonObject) item).getString("action"))
        .containsExactly("create", "publish", "pause", "resume", "close");
    assertThat(actions)
        .extracting(item -> ((JsonObject) item).getString("reason"))
        .containsExactly(null, "The day has come", "A leak in the roof", null, "Over");
    assertThat(actions)
        .allSatisfy(
            item ->
                assertThat(((JsonObject) item).getString("actor"))
                    .isEqualTo("operator:configured"));
    operator.get("/v1/campaigns/999999/actions").expectProblem(404, "not-found");
  }

  @Test
  void whatAnOperatorReleasesOrRefundsIsKeptToo() throws Exception {
    String id = server.triangle(4, null);
    String path = "/v1/campaigns/" + id;
    Client shop = server.service();
    String released =
        shop.post(path + "/holds", "r1", cart("a", layer(4, 1))).expect(201).getString("id");
    String given =
        shop.post(path + "/holds", "r2", cart("a", layer(4, 1))).expect(201).getString("id");
    String bought =
        shop.post(path + "/purchases", "r3", Client.order("b", 4, "pm_card_visa"))
            .expect(201)
            .getString("id");
    Client operator = server.operator();
    String body = because("Asked for by phone").encode();
    operator.send("DELETE", "/v1/holds/" + released, body, Map.of()).expect(200);
    operator.send("DELETE", "/v1/holds/" + released, body, Map.of());
    // What a shop does for its buyers is no operator's action.
    shop.delete("/v1/holds/" + given).expect(200);
    for (int i = 0; i < 2; i++) {
      operator.post("/v1/purchases/" + bought + "/refund", "once", because("A kindness"));
    }

    JsonArray actions = operator.get(path + "/actions").expect(200).getJsonArray("items");
    assertThat(actions)
        .extracting(item -> ((JsonObject) item).getString("action"))
        .containsExactly("create", "publish", "release", "refund");
    assertThat(actions)
        .extracting(item -> ((JsonObject) item).getString("subject"))
        .containsExactly(null, null, released, bought);
    assertThat(actions)
        .extracting(item -> ((JsonObject) item).getString("reason"))
        .containsExactly(null, null, "Asked for by phone", "A kindness");
  }

  /** A release writes its record, which refers to the campaign, while it holds the pool. */
  @Test
  void aPauseDoesNotWaitForARecordThatIsBeingWritten() throws Exception {
    String id = server.triangle(3, null);
    try (Connection writer = server.database().connection();
        Statement statement = writer.createStatement()) {
      writer.setAutoCommit(false);
      // As the reference of an uncommitted row does.
      statement.execute(
          "SELECT 1 FROM lockstep_server.campaign WHERE id = " + id + " FOR KEY SHARE");
      server.operator().post("/v1/campaigns/" + id + "/pause", because("A test")).expect(200);
      writer.rollback();
    }
  }

  @Test
  void theTrailOfOnePoolLeavesOutTheOthers() throws Exception {
    String id = server.triangle(4, null);
    Client shop = server.service();
    shop.post("/v1/campaigns/" + id + "/holds", "a", cart("b", layer(2, 1), layer(3, 1)))
        .expect(201);
    String path = "/v1/campaigns/" + id + "/audit";
    assertThat(server.operator().get(path).expect(200).getJsonArray("items")).hasSize(2);
    assertThat(server.operator().get(path + "?pool=3").expect(200).getJsonArray("items"))
        .singleElement()
        .extracting(item -> ((JsonObject) item).getString("pool"))
        .isEqualTo("3");
    server.operator().get(path + "?pool=9").expectProblem(400, "invalid-request");
  }

  @Test
  void aRevokedKeyKeepsWhoRevokedItAndWhy() throws Exception {
    Client operator = server.operator();
    JsonObject key =
        operator
            .post("/v1/keys", new JsonObject().put("role", "service").put("name", "old shop"))
            .expect(201);
    String path = "/v1/keys/" + key.getString("id");
    assertThat(key.getString("createdBy")).isEqualTo("operator:configured");
    operator.send("DELETE", path, because("Leaked").encode(), Map.of()).expect(200);
    // Again, and with another reason: the first stays on record.
    operator.send("DELETE", path, because("Again").encode(), Map.of()).expect(200);
    JsonObject shown = operator.get(path).expect(200);
    assertThat(shown.getString("revokedBy")).isEqualTo("operator:configured");
    assertThat(shown.getString("revokeReason")).isEqualTo("Leaked");
    assertThat(operator.get("/v1/keys?role=service").expect(200).getJsonArray("items"))
        .extracting(item -> ((JsonObject) item).getString("role"))
        .isNotEmpty()
        .containsOnly("service");
  }

  private static JsonObject because(String reason) {
    return new JsonObject().put("reason", reason);
  }

  private static List<String> found(String path) throws Exception {
    return server.operator().get(path).expect(200).getJsonArray("items").stream()
        .map(item -> ((JsonObject) item).getString("id"))
        .toList();
  }
}
