package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.edge.HttpLimits;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** HEAD is answered as GET is, without the body, and the next request on the connection follows. */
@Timeout(180)
class HeadOfEveryRouteTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @TestFactory
  Stream<DynamicTest> headEndsWithTheStatusOfGetAndTheConnectionGoesOn() throws Exception {
    EveryRoute routes = new EveryRoute(server);
    Map<String, String> keys = new TreeMap<>();
    for (EveryRoute.Operation operation : routes.operations()) {
      if (operation.method().equals("GET")) {
        keys.put(operation.path(), routes.keyFor(operation));
      }
    }
    List<String> others = new ArrayList<>(List.of("/", "/docs", "/openapi.json", "/status"));
    JsonObject told = server.anyone().get("/openapi.json").expect(200).getJsonObject("paths");
    told.fieldNames().stream().filter(path -> !path.startsWith("/v1/")).forEach(others::add);
    others.forEach(path -> keys.put(path, RunningServer.OPERATOR_KEY));
    assertThat(keys.keySet()).anyMatch(path -> path.endsWith("/live")).contains("/healthz");
    return keys.entrySet().stream()
        .map(
            each ->
                DynamicTest.dynamicTest(
                    each.getKey(), () -> sameAsGet(each.getKey(), each.getValue())));
  }

  private static void sameAsGet(String path, String key) throws Exception {
    server.passSeconds(1);
    RawHttp.Got got;
    try (RawHttp connection = RawHttp.to(server.url())) {
      got = connection.send(request("GET", path, key)).read();
    }
    try (RawHttp connection = RawHttp.to(server.url())) {
      connection.send(request("HEAD", path, key));
      // Only the head: whatever follows is the next answer.
      assertThat(connection.readUntil("HTTP/")).startsWith("HTTP/1.1 " + got.status());
      while (!connection.readUntil("").isEmpty()) {
        // The other headers.
      }
      assertThat(connection.get("/healthz").read().status()).isEqualTo(200);
    }
  }

  @Test
  void headOfALiveStreamKeepsNoPlace() throws Exception {
    String path = "/v1/campaigns/" + server.drop(10, null) + "/live";
    try (Server node =
            server.start(RunningServer.EDGE.withLimits(HttpLimits.DEFAULT.withWatchers(1, 1)));
        RawHttp connection = RawHttp.to(node.url())) {
      for (int i = 0; i < 3; i++) {
        RawHttp.Got answer = connection.send(request("HEAD", path, "")).read();
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.headers()).containsEntry("content-type", "text/event-stream");
      }
      connection.send(request("GET", path, "")).readUntil("event: stock");
    }
  }

  private static String request(String method, String path, String key) {
    return method
        + " "
        + path
        + " HTTP/1.1\r\nHost: localhost\r\n"
        + (key.isEmpty() ? "" : "Authorization: Bearer " + key + "\r\n")
        + "\r\n";
  }
}
