package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.server.EveryRoute.Operation;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whoever has the latest is told so, and is never told so when something has changed. */
@Timeout(120)
class EntityTagTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @Test
  void whatOffersIfNoneMatchAnswersIt() throws Exception {
    EveryRoute routes = new EveryRoute(server);
    List<Operation> tagged =
        routes.operations().stream()
            .filter(operation -> operation.parameters("header").contains("If-None-Match"))
            .toList();
    assertThat(tagged)
        .extracting(Operation::toString)
        .contains(
            "GET /v1/campaigns/{id}",
            "GET /v1/accounts/{id}",
            "GET /v1/holds/{id}",
            "GET /v1/purchases/{id}",
            "GET /v1/transfers/{id}",
            "GET /v1/keys/{id}");
    for (Operation operation : tagged) {
      // A drop has no positions and no draw; their tags are looked at below.
      if (!operation.template().matches(".*/(positions|draw)")) {
        answersIfNoneMatch(operation.path());
      }
    }
    String triangle = "/v1/campaigns/" + server.triangle(3, null);
    answersIfNoneMatch(triangle + "/positions");
    answersIfNoneMatch(triangle + "/draw");
  }

  private static void answersIfNoneMatch(String path) throws Exception {
    Client operator = server.operator();
    Reply first = operator.get(path);
    first.expect(200);
    String tag = first.header("ETag").orElseThrow();
    assertThat(tag).as(path).matches("\"[A-Za-z0-9_-]+\"");
    for (String known : List.of(tag, "W/" + tag, "\"other\", " + tag, "*")) {
      for (String method : List.of("GET", "HEAD")) {
        Reply again = operator.send(method, path, null, Map.of("If-None-Match", known));
        assertThat(again.status()).as("%s %s %s", method, path, known).isEqualTo(304);
        assertThat(again.response().body()).isEmpty();
        assertThat(again.header("ETag")).hasValue(tag);
      }
    }
    for (String unknown : List.of("\"other\"", "W/\"x\"", tag.replace("\"", ""), "")) {
      assertThat(operator.send("GET", path, null, Map.of("If-None-Match", unknown)).status())
          .as(unknown)
          .isEqualTo(200);
    }
  }

  @Test
  void aSaleChangesTheTagOfItsCampaign() throws Exception {
    String path = "/v1/campaigns/" + server.drop(10, null);
    String before = server.anyone().get(path).header("ETag").orElseThrow();
    server.service().post(path + "/holds", "h", Client.cart("a", Client.sku("A", 1))).expect(201);
    Reply after = server.anyone().send("GET", path, null, Map.of("If-None-Match", before));
    after.expect(200);
    assertThat(after.header("ETag")).isPresent().isNotEqualTo(before);
  }

  @Test
  void aCampaignSaysWhenItWasMadePublishedAndChanged() throws Exception {
    Client operator = server.operator();
    JsonObject draft = operator.post("/v1/campaigns", RunningServer.dropOf(5)).expect(201);
    String path = "/v1/campaigns/" + draft.getString("id");
    assertThat(draft.getString("publishedAt")).isNull();
    assertThat(draft.getString("updatedAt")).isEqualTo(draft.getString("createdAt"));
    JsonObject published = operator.post(path + "/publish", null).expect(200);
    assertThat(published.getString("createdAt")).isEqualTo(draft.getString("createdAt"));
    Instant at = Instant.parse(published.getString("publishedAt"));
    assertThat(at).isAfter(Instant.parse(draft.getString("createdAt")));
    assertThat(published.getString("updatedAt")).isEqualTo(published.getString("publishedAt"));
    JsonObject paused = operator.post(path + "/pause", null).expect(200);
    assertThat(paused.getString("publishedAt")).isEqualTo(published.getString("publishedAt"));
    assertThat(Instant.parse(paused.getString("updatedAt"))).isAfter(at);
    operator.post(path + "/resume", null).expect(200);
    JsonObject closed = operator.post(path + "/close", null).expect(200);
    assertThat(operator.get(path).expect(200)).isEqualTo(closed);
  }
}
