package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Lists whose items are large. */
@Timeout(60)
class LargePagesTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  /** A thousand of the largest events would be 256 MB, and the process ends with its heap. */
  @Test
  void aPageOfLargeItemsIsBoundedByItsBytesAndNoneIsMissed() throws Exception {
    Client operator = server.operator();
    operator.send("PUT", "/v1/streams/large", "{\"sinks\":[]}", Map.of()).expect(200);
    JsonObject event =
        new JsonObject().put("key", "k").put("type", "t").put("data", "x".repeat(250_000));
    JsonArray four = new JsonArray(List.of(event, event, event, event));
    for (int i = 0; i < 6; i++) {
      operator.send("POST", "/v1/streams/large/events", four.encode(), Map.of()).expect(201);
    }
    requireShortPages("/v1/streams/large/events?key=k&limit=1000", 24);

    JsonObject schedule =
        new JsonObject()
            .put("name", "large")
            .put("when", new JsonObject().put("cron", "0 9 * * *").put("zone", "Asia/Tokyo"))
            .put(
                "deliver",
                new JsonObject()
                    .put("webhook", "https://example.com/hook")
                    .put("body", new JsonObject().put("text", "x".repeat(60_000))));
    int before = all("/v1/schedules?limit=1000").size();
    for (int i = 0; i < 72; i++) {
      operator.post("/v1/schedules", schedule).expect(201);
    }
    requireShortPages("/v1/schedules?limit=1000", before + 72);
  }

  private static void requireShortPages(String list, int expected) throws Exception {
    JsonObject first = server.operator().get(list).expect(200);
    assertThat(first.getJsonArray("items").size()).isLessThan(expected);
    assertThat(first.encode().length()).isBetween(4_000_000, 4_600_000);
    assertThat(all(list)).hasSize(expected).doesNotHaveDuplicates();
  }

  private static List<Object> all(String list) throws Exception {
    List<Object> items = new ArrayList<>();
    String next = "";
    while (next != null) {
      JsonObject page = server.operator().get(list + next).expect(200);
      page.getJsonArray("items").forEach(one -> items.add(((JsonObject) one).getString("id")));
      next = page.getString("next") == null ? null : "&after=" + page.getString("next");
    }
    return items;
  }
}
