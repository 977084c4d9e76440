package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
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
