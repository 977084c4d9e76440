package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What was never published is the operators' own. */
@Timeout(120)
class DraftsTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @Test
  void nobodyButOperatorsSeesADraft() throws Exception {
    String draft = draft();
    String path = "/v1/campaigns/" + draft;
    List<Client> others =
        List.of(server.anyone(), server.service(), server.buyer("b"), server.visitor());
    for (Client other : others) {
      for (String part : List.of("", "/positions", "/live", "/draw")) {
        other.get(path + part).expectProblem(404, "not-found");
      }
      assertThat(ids(other, 100)).doesNotContain(draft);
    }
    JsonObject cart = new JsonObject().put("items", new JsonArray().add(Client.layer(1, 1)));
    Client buyer = others.get(2);
    buyer.post(path + "/holds", "h", cart).expectProblem(404, "not-found");
    buyer
        .post(path + "/purchases", "p", cart.copy().put("paymentMethod", "pm_card_visa"))
        .expectProblem(404, "not-found");

    assertThat(server.operator().get(path).expect(200).getString("status")).isEqualTo("draft");
    server.operator().get(path + "/positions").expect(200);
    server.operator().get(path + "/draw").expect(200);
    assertThat(ids(server.operator(), 100)).contains(draft);

    server.operator().post(path + "/publish", null).expect(200);
    for (Client other : others) {
      other.get(path).expect(200);
      assertThat(ids(other, 100)).contains(draft);
    }
  }

  /**
   * Every route that names a campaign or a hold of one, with bodies that a campaign could refuse.
   */
  @Test
  void noRouteTellsADraftFromAnIdThatIsNotThere() throws Exception {
    List<String> drafts = List.of(draft(), dropDraft());
    String unknown = "987654321";
    server.operator().get("/v1/campaigns/" + unknown).expectProblem(404, "not-found");
    String hold = UUID.randomUUID().toString();
    int compared = 0;
    for (EveryRoute.Operation operation : new EveryRoute(server).operations()) {
      boolean ofCampaigns = operation.template().startsWith("/v1/campaigns/{id}");
      if (!ofCampaigns && !operation.template().startsWith("/v1/holds/{id}")) {
        continue;
      }
      for (Client other : List.of(server.anyone(), server.service(), server.buyer("other"))) {
        for (String body : bodies(operation)) {
          String missing =
              told(other, operation, ofCampaigns ? unknown : unknown + "." + hold, body);
          for (String draft : drafts) {
            String id = ofCampaigns ? draft : draft + "." + hold;
            assertThat(told(other, operation, id, body).replace("/" + draft, "/" + unknown))
                .as("%s %s", operation, body)
                .isEqualTo(missing);
            compared++;
          }
        }
      }
    }
    assertThat(compared).isGreaterThan(50);
  }

  private static List<String> bodies(EveryRoute.Operation operation) {
    if (operation.body().isEmpty()) {
      return List.of("");
    }
    String last = operation.template().substring(operation.template().lastIndexOf('/') + 1);
    return Stream.of(
            Client.layer(1, 1), Client.layer(99, 1), Client.sku("A", 1), Client.sku("Z", 1))
        .map(item -> new JsonObject().put("items", new JsonArray().add(item)))
        .map(
            cart ->
                switch (last) {
                  case "{id}", "holds" -> cart;
                  case "purchases" -> cart.put("paymentMethod", "pm_card_visa");
                  case "checkout" -> new JsonObject().put("paymentMethod", "pm_card_visa");
                  default -> new JsonObject();
                })
        .map(JsonObject::encode)
        .distinct()
        .toList();
  }

  /** Status and body of the answer, without what differs from one request to the next. */
  private static String told(Client client, EveryRoute.Operation operation, String id, String body)
      throws Exception {
    server.passSeconds(1);
    Reply reply =
        client.send(
            operation.method(),
            operation.template().replace("{id}", id),
            body.isEmpty() ? null : body,
            Map.of("Idempotency-Key", UUID.randomUUID().toString()));
    JsonObject json = reply.json();
    json.remove("requestId");
    return reply.status() + " " + json.encode();
  }

  @Test
  void aDraftThatWasClosedWasNeverPublished() throws Exception {
    String draft = draft();
    server.operator().post("/v1/campaigns/" + draft + "/close", null).expect(200);
    server.anyone().get("/v1/campaigns/" + draft).expectProblem(404, "not-found");
    assertThat(ids(server.anyone(), 100)).doesNotContain(draft);
    assertThat(ids(server.operator(), 100)).contains(draft);
  }

  /** A draft takes no place on a page, and no page of drafts ends the list. */
  @Test
  void draftsDoNotCountOnAPage() throws Exception {
    List<String> published = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      draft();
      published.add(server.triangle(3, null));
      draft();
    }
    JsonObject page = server.anyone().get("/v1/campaigns?limit=2").expect(200);
    assertThat(page.getJsonArray("items")).hasSize(2);
    assertThat(ids(server.anyone(), 2)).containsSubsequence(published).doesNotHaveDuplicates();
  }

  private static String draft() throws Exception {
    return server
        .operator()
        .post(
            "/v1/campaigns",
            new JsonObject()
                .put("kind", "triangle")
                .put("name", "Secret")
                .put("currency", "JPY")
                .put("baseLength", 3)
                .put("price", 500))
        .expect(201)
        .getString("id");
  }

  private static String dropDraft() throws Exception {
    return server
        .operator()
        .post(
            "/v1/campaigns",
            new JsonObject()
                .put("kind", "drop")
                .put("name", "Secret")
                .put("currency", "EUR")
                .put(
                    "products",
                    new JsonArray()
                        .add(
                            new JsonObject()
                                .put("sku", "A")
                                .put("name", "A")
                                .put("price", 500)
                                .put("stock", 5))))
        .expect(201)
        .getString("id");
  }

  private static List<String> ids(Client client, int limit) throws Exception {
    List<String> ids = new ArrayList<>();
    @Nullable String next = null;
    do {
      server.passSeconds(1);
      Reply reply =
          client.get("/v1/campaigns?limit=" + limit + (next == null ? "" : "&after=" + next));
      JsonObject page = reply.expect(200);
      page.getJsonArray("items").forEach(one -> ids.add(((JsonObject) one).getString("id")));
      next = page.getString("next");
    } while (next != null);
    return ids;
  }
}
