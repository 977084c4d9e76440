package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.layer;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The OpenAPI document says what is served: every path answers, and answers as described. */
@Timeout(120)
class ApiDocumentTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @Test
  void everyDocumentedOperationIsServed() throws Exception {
    JsonObject paths = document().getJsonObject("paths");
    assertThat(paths.fieldNames()).isNotEmpty();
    for (String path : paths.fieldNames()) {
      for (String method : paths.getJsonObject(path).fieldNames()) {
        Reply reply =
            server
                .anyone()
                .send(
                    method.toUpperCase(Locale.ROOT),
                    path.replaceAll("\\{[a-z]+}", "999999"),
                    null,
                    Map.of());
        // Served: it asks for a key, or knows that there is no such campaign; not "nothing here".
        assertThat(reply.status())
            .as("%s %s", method, path)
            .isIn(path.equals("/v1/webhooks/stripe") ? List.of(400) : List.of(200, 201, 401, 404));
        if (reply.status() == 404) {
          assertThat(reply.json().getString("detail")).doesNotContain("nothing at");
        }
      }
    }
  }

  @Test
  void answersAreOfTheShapeThatIsDocumented() throws Exception {
    Client operator = server.operator();
    Client shop = server.service();
    JsonObject key = new JsonObject().put("role", "service").put("name", "n");
    Reply made = operator.post("/v1/keys", key);
    assertDocumented("post", "/v1/keys", made);
    String keyPath = "/v1/keys/" + made.json().getString("id");
    assertDocumented("get", "/v1/keys", operator.get("/v1/keys"));
    assertDocumented("get", "/v1/keys/{id}", operator.get(keyPath));
    assertDocumented("delete", "/v1/keys/{id}", operator.delete(keyPath));

    assertDocumented(
        "post", "/v1/campaigns", operator.post("/v1/campaigns", RunningServer.dropOf(3)));
    String id = server.triangle(4, 3);
    String path = "/v1/campaigns/" + id;
    assertDocumented("get", "/v1/campaigns", operator.get("/v1/campaigns"));
    assertDocumented("get", "/v1/campaigns/{id}", operator.get(path));
    assertDocumented(
        "post",
        "/v1/campaigns/{id}/holds",
        shop.post(path + "/holds", "s", cart("b", layer(2, 1))));
    Reply hold =
        shop.post("/v1/campaigns/" + server.drop(3, null) + "/holds", "s", cart("b", sku("A", 1)));
    assertDocumented("post", "/v1/campaigns/{id}/holds", hold);
    String holdPath = "/v1/holds/" + hold.json().getString("id");
    assertDocumented("get", "/v1/holds/{id}", shop.get(holdPath));
    JsonObject items = new JsonObject().put("items", new JsonArray().add(sku("A", 2)));
    assertDocumented("put", "/v1/holds/{id}", shop.put(holdPath, items));
    assertDocumented("post", "/v1/holds/{id}/extend", shop.post(holdPath + "/extend", null));
    assertDocumented("delete", "/v1/holds/{id}", shop.delete(holdPath));
    purchasesAreOfTheShapeThatIsDocumented(operator, shop, id);
    assertDocumented("get", "/v1/campaigns/{id}/positions", operator.get(path + "/positions"));
    assertDocumented("get", "/v1/campaigns/{id}/audit", operator.get(path + "/audit"));
    assertDocumented("get", "/v1/campaigns/{id}/actions", operator.get(path + "/actions"));
    assertDocumented("get", "/v1/holds", operator.get("/v1/holds?campaign=" + id));
    assertDocumented("get", "/v1/visitor", shop.get("/v1/visitor"));
    assertDocumented("post", "/v1/visitor", server.anyone().post("/v1/visitor", null));
    assertDocumented("delete", "/v1/visitor", server.visitor().delete("/v1/visitor"));
    for (String action : new String[] {"pause", "resume", "close"}) {
      assertDocumented(
          "post", "/v1/campaigns/{id}/" + action, operator.post(path + "/" + action, null));
    }
    assertDocumented("get", "/v1/lab/scenarios", operator.get("/v1/lab/scenarios"));
    assertDocumented(
        "post",
        "/v1/lab/scenarios/{id}/runs",
        operator.post("/v1/lab/scenarios/claimed-twice/runs", null));
    jobsAreOfTheShapeThatIsDocumented(operator, shop);
    streamsAreOfTheShapeThatIsDocumented(operator);
    assertDocumented("get", "/v1/invariants", operator.get("/v1/invariants"));
    operator.post("/v1/queues/upkeep/limit", new JsonObject().put("perSecond", null)).expect(200);
    assertDocumented("get", "/v1/job-actions", operator.get("/v1/job-actions"));
    assertDocumented("post", "/v1/invariants/check", operator.post("/v1/invariants/check", null));
  }

  private static void purchasesAreOfTheShapeThatIsDocumented(
      Client operator, Client shop, String campaign) throws Exception {
    String purchases = "/v1/campaigns/" + campaign + "/purchases";
    Reply bought = shop.post(purchases, "p1", Client.order("b", 3, "pm_card_visa"));
    assertDocumented("post", "/v1/campaigns/{id}/purchases", bought);
    Reply challenged =
        shop.post(purchases, "p2", Client.order("c", 3, "pm_card_authenticationRequired"));
    assertDocumented("post", "/v1/campaigns/{id}/purchases", challenged);
    assertDocumented(
        "post",
        "/v1/purchases/{id}/authenticate",
        shop.post(
            "/v1/purchases/" + challenged.json().getString("id") + "/authenticate",
            new JsonObject().put("approved", true)));
    Reply hold = shop.post("/v1/campaigns/" + campaign + "/holds", "p3", cart("d", layer(3, 1)));
    assertDocumented(
        "post",
        "/v1/holds/{id}/checkout",
        shop.post(
            "/v1/holds/" + hold.json().getString("id") + "/checkout",
            "p4",
            new JsonObject().put("paymentMethod", "pm_card_visa")));
    String path = "/v1/purchases/" + bought.json().getString("id");
    assertDocumented("get", "/v1/purchases/{id}", shop.get(path));
    assertDocumented("get", "/v1/purchases", shop.get("/v1/purchases"));
    assertDocumented(
        "post", "/v1/purchases/{id}/refund", operator.post(path + "/refund", "p5", null));
    assertDocumented("get", "/v1/reconciliation", operator.get("/v1/reconciliation"));
  }

  private static void jobsAreOfTheShapeThatIsDocumented(Client operator, Client shop)
      throws Exception {
    JsonObject when =
        new JsonObject().put("yearly", "02-29").put("time", "09:00").put("zone", "Asia/Tokyo");
    JsonObject schedule =
        new JsonObject()
            .put("name", "n")
            .put("when", when)
            .put("deliver", new JsonObject().put("webhook", "https://example.com/"));
    Reply made = shop.post("/v1/schedules", schedule);
    assertDocumented("post", "/v1/schedules", made);
    String path = "/v1/schedules/" + made.json().getString("id");
    assertDocumented("get", "/v1/schedules", shop.get("/v1/schedules"));
    assertDocumented(
        "post",
        "/v1/schedules/preview",
        shop.post("/v1/schedules/preview", new JsonObject().put("when", when)));
    assertDocumented("get", "/v1/schedules/{id}", shop.get(path));
    assertDocumented("get", "/v1/schedules/{id}/preview", shop.get(path + "/preview"));
    assertDocumented(
        "patch",
        "/v1/schedules/{id}",
        shop.send("PATCH", path, "{\"name\":\"m\"}", Map.of("If-Match", "\"1\"")));
    Reply jobs = operator.get("/v1/jobs");
    assertDocumented("get", "/v1/jobs", jobs);
    String job = jobs.json().getJsonArray("items").getJsonObject(0).getString("id");
    assertDocumented("get", "/v1/jobs/{id}", operator.get("/v1/jobs/" + job));
    JsonObject count = new JsonObject().put("filter", new JsonObject()).put("dryRun", true);
    assertDocumented("post", "/v1/jobs/retry", operator.post("/v1/jobs/retry", count));
    assertDocumented("post", "/v1/jobs/cancel", operator.post("/v1/jobs/cancel", count));
    assertDocumented("delete", "/v1/schedules/{id}", shop.delete(path));
    assertDocumented("get", "/v1/queues", operator.get("/v1/queues"));
    String queue = "/v1/queues/webhooks";
    assertDocumented("post", "/v1/queues/{queue}/pause", operator.post(queue + "/pause", null));
    assertDocumented("post", "/v1/queues/{queue}/resume", operator.post(queue + "/resume", null));
    assertDocumented(
        "post",
        "/v1/queues/{queue}/limit",
        operator.post(queue + "/limit", new JsonObject().put("perSecond", 5)));
    assertDocumented(
        "get", "/v1/webhooks/secret", operator.get("/v1/webhooks/secret?url=https://example.com/"));
  }

  private static void streamsAreOfTheShapeThatIsDocumented(Client operator) throws Exception {
    JsonArray sinks = new JsonArray().add(new JsonObject().put("name", "a").put("type", "log"));
    String stream = "/v1/streams/shapes";
    assertDocumented(
        "put", "/v1/streams/{stream}", operator.put(stream, new JsonObject().put("sinks", sinks)));
    JsonObject event = new JsonObject().put("key", "k").put("type", "t").put("data", "d");
    assertDocumented(
        "post", "/v1/streams/{stream}/events", operator.post(stream + "/events", event));
    assertDocumented("get", "/v1/streams/{stream}/events", operator.get(stream + "/events?key=k"));
    assertDocumented("get", "/v1/streams", operator.get("/v1/streams"));
    assertDocumented("get", "/v1/streams/{stream}", operator.get(stream));
    assertDocumented(
        "post",
        "/v1/streams/{stream}/sinks/{sink}/replay",
        operator.post(stream + "/sinks/a/replay", new JsonObject().put("fromSeq", 1)));
    assertDocumented(
        "get", "/v1/streams/{stream}/sinks/{sink}/keys", operator.get(stream + "/sinks/a/keys"));
    assertDocumented("get", "/v1/streams/{stream}/actions", operator.get(stream + "/actions"));
    assertDocumented("get", "/v1/relays", operator.get("/v1/relays"));
  }

  @Test
  void whatMachinesAskFromTheFirstMomentOnIsDocumentedAsItIsServed() throws Exception {
    for (String path : List.of("/healthz", "/readyz")) {
      assertDocumented("get", path, server.anyone().get(path));
    }
    Reply metrics = server.anyone().get("/metrics");
    JsonObject content =
        document()
            .getJsonObject("paths")
            .getJsonObject("/metrics")
            .getJsonObject("get")
            .getJsonObject("responses")
            .getJsonObject("200")
            .getJsonObject("content");
    assertThat(metrics.header("Content-Type"))
        .hasValueSatisfying(
            type -> assertThat(type).startsWith(content.fieldNames().iterator().next()));
  }

  @Test
  void thePageForReadersNamesEveryPath() throws Exception {
    Reply page = server.anyone().get("/docs");
    assertThat(page.header("Content-Type")).hasValue("text/html; charset=utf-8");
    for (String path : document().getJsonObject("paths").fieldNames()) {
      assertThat(page.response().body()).contains(path);
    }
  }

  @Test
  void whatWasGivenBackInPartsIsAsDocumented() throws Exception {
    Client operator = server.operator();
    String campaign = server.drop(2, null);
    JsonObject bought =
        operator
            .post(
                "/v1/campaigns/" + campaign + "/purchases",
                "in parts",
                Client.order("ann", "pm_card_visa", Client.sku("A", 2)))
            .expect(201);
    String path = "/v1/purchases/" + bought.getString("id");
    JsonArray one = new JsonArray().add(Client.sku("A", 1));

    Reply amount = operator.post(path + "/refund", "amount", new JsonObject().put("amount", 1));
    assertDocumented("post", "/v1/purchases/{id}/refund", amount);
    Reply item = operator.post(path + "/refund", "item", new JsonObject().put("items", one));
    assertDocumented("post", "/v1/purchases/{id}/refund", item);
    assertThat(item.json().getJsonArray("refunds")).hasSize(2);
    assertDocumented("get", "/v1/purchases/{id}", operator.get(path));
  }

  @Test
  void transfersMadeTogetherAreAsDocumented() throws Exception {
    Client operator = server.operator();
    JsonObject account =
        new JsonObject().put("name", "a").put("currency", "EUR").put("floor", null);
    String from = operator.post("/v1/accounts", account).expect(201).getString("id");
    String to = operator.post("/v1/accounts", account).expect(201).getString("id");
    JsonObject transfer =
        new JsonObject().put("from", from).put("to", to).put("amount", 1).put("currency", "EUR");

    assertDocumented("post", "/v1/transfers", operator.post("/v1/transfers", "one", transfer));
    JsonObject both =
        new JsonObject().put("transfers", new JsonArray().add(transfer).add(transfer));
    assertDocumented("post", "/v1/transfers", operator.post("/v1/transfers", "both", both));
  }

  private static JsonObject document() throws Exception {
    JsonObject document = server.anyone().get("/openapi.json").expect(200);
    assertThat(document.getString("openapi")).isEqualTo("3.1.0");
    return document;
  }

  private static void assertDocumented(String method, String path, Reply reply) throws Exception {
    assertThat(reply.status()).as(reply.response().body()).isBetween(200, 299);
    JsonObject schema =
        document()
            .getJsonObject("paths")
            .getJsonObject(path)
            .getJsonObject(method)
            .getJsonObject("responses")
            .getJsonObject(String.valueOf(reply.status()))
            .getJsonObject("content")
            .getJsonObject("application/json")
            .getJsonObject("schema");
    assertThat(SchemaCheck.errors(path, schema, reply.json())).isEmpty();
  }
}
