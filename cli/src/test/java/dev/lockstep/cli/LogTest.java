package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogTest {
  private static final String KEY = "operator-key-that-must-not-be-in-any-log";

  @Test
  void requestsAreLoggedAsObjectsWithTheirIdAndWithoutSecrets(@TempDir Path data) throws Exception {
    try (ServerProcess server =
        ServerProcess.start(
            Map.of(
                "LOCKSTEP_LOG", "json",
                "LOCKSTEP_LOG_LEVEL", "DEBUG",
                "LOCKSTEP_OPERATOR_KEY", KEY),
            "up",
            "--port",
            "0",
            "--data",
            data.toString())) {
      new Client(server.awaitReady(), Optional.of(KEY))
          .send("GET", "/v1/keys?limit=1", null, Map.of("X-Request-Id", "of-this-test"))
          .expect(200);
      server.terminate();

      List<String> lines = server.errors();
      assertThat(lines)
          .isNotEmpty()
          .allSatisfy(line -> assertThat(new JsonObject(line)).isNotNull());
      assertThat(lines).noneMatch(line -> line.contains(KEY) || line.contains("limit=1"));
      assertThat(lines.stream().map(JsonObject::new).map(LogTest::values))
          .anySatisfy(
              values ->
                  assertThat(values)
                      .containsEntry("request", "of-this-test")
                      .containsEntry("path", "/v1/keys")
                      .containsEntry("status", "200"));
    } finally {
      ServerProcess.stopAbandoned(data);
    }
  }

  /** What was said beside the message. */
  private static Map<String, String> values(JsonObject line) {
    Map<String, String> values = new HashMap<>();
    JsonArray pairs = line.getJsonArray("kvpList", new JsonArray());
    for (int i = 0; i < pairs.size(); i++) {
      pairs.getJsonObject(i).forEach(pair -> values.put(pair.getKey(), pair.getValue().toString()));
    }
    return values;
  }
}
