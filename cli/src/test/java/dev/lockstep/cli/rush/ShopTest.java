package dev.lockstep.cli.rush;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A buyer of {@code rush} at a server that does not always answer. */
@Timeout(60)
class ShopTest {
  private final List<String> asked = new ArrayList<>();

  @Test
  void whatMayStillPassIsRepeatedUnderTheSameKey() throws Exception {
    Iterator<JsonObject> answers =
        List.of(
                problem(503, "outcome-unknown"),
                problem(503, "unavailable"),
                problem(429, "rate-limited"),
                problem(409, "idempotency-key-in-use"),
                new JsonObject().put("status", "pending").put("code", 202),
                // Hangs up instead.
                new JsonObject(),
                new JsonObject().put("status", "completed").put("code", 201))
            .iterator();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> answer(exchange, answers.next()));
    server.start();
    try {
      Shop shop =
          new Shop(URI.create("http://localhost:" + server.getAddress().getPort()), "a key");

      Shop.Reply reply = shop.buy("7", "once", new JsonObject().put("buyer", "ann"));

      assertThat(reply.status()).isEqualTo(201);
      assertThat(asked)
          .hasSize(7)
          .containsOnly("/v1/campaigns/7/purchases once {\"buyer\":\"ann\"}");
    } finally {
      server.stop(0);
    }
  }

  private void answer(HttpExchange exchange, JsonObject answer) throws IOException {
    asked.add(
        exchange.getRequestURI()
            + " "
            + exchange.getRequestHeaders().getFirst("Idempotency-Key")
            + " "
            + new String(exchange.getRequestBody().readAllBytes(), UTF_8));
    if (!answer.isEmpty()) {
      byte[] body = answer.put("retryAfterSeconds", 0).encode().getBytes(UTF_8);
      exchange.sendResponseHeaders(answer.getInteger("code"), body.length);
      exchange.getResponseBody().write(body);
    }
    exchange.close();
  }

  private static JsonObject problem(int status, String slug) {
    return new JsonObject()
        .put("type", "https://lockstep.dev/problems/" + slug)
        .put("code", status);
  }
}
