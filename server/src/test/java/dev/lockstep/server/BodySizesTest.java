package dev.lockstep.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.api.BodyLimits;
import dev.lockstep.server.edge.HttpLimits;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A body is as large as the settings allow, and a larger one is refused before it is read. */
@Timeout(120)
class BodySizesTest {
  private static final int BYTES = 2_048;
  private static final int LARGE_BYTES = 8_192;

  @RegisterExtension
  static final RunningServer server =
      new RunningServer()
          .behind(
              RunningServer.EDGE.withLimits(
                  HttpLimits.DEFAULT.withBodies(new BodyLimits(BYTES, LARGE_BYTES))));

  @Test
  void oneThingIsAsLargeAsTheSettingAllows() throws Exception {
    RawHttp.Got taken = post("/v1/accounts", account(BYTES));
    assertThat(taken.status()).as(taken.body()).isEqualTo(201);
    RawHttp.Got refused = post("/v1/accounts", account(BYTES + 1));
    refused.expectProblem(413, "body-too-large");
    assertThat(refused.body()).contains("2048");
  }

  @Test
  void manyThingsAtOnceHaveALimitOfTheirOwn() throws Exception {
    server
        .operator()
        .send(
            "PUT", "/v1/streams/sizes", "{\"sinks\":[{\"name\":\"a\",\"type\":\"log\"}]}", Map.of())
        .expect(200);
    assertThat(post("/v1/streams/sizes/events", event(LARGE_BYTES)).status()).isEqualTo(201);
    RawHttp.Got refused = post("/v1/streams/sizes/events", event(LARGE_BYTES + 1));
    refused.expectProblem(413, "body-too-large");
    assertThat(refused.body()).contains("8192");
  }

  private static byte[] account(int bytes) {
    return padded(
        new JsonObject().put("name", "sized").put("currency", "JPY").put("floor", 0), bytes);
  }

  private static byte[] event(int bytes) {
    return padded(
        new JsonObject()
            .put("key", "k")
            .put("type", "sized")
            .put("data", new JsonObject().put("a", 1)),
        bytes);
  }

  /** Spaces in front of the value mean nothing, and count. */
  private static byte[] padded(JsonObject json, int bytes) {
    String text = json.encode();
    return (" ".repeat(bytes - text.length()) + text).getBytes(UTF_8);
  }

  private static RawHttp.Got post(String path, byte[] body) throws Exception {
    return RawHttp.exchange(
        server.url(),
        "POST " + path,
        "Bearer " + RunningServer.OPERATOR_KEY,
        body,
        Map.of("Idempotency-Key", "sizes-" + body.length));
  }
}
