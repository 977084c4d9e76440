package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What every answer has in common, and what no request gets away with. */
@Timeout(120)
class ConventionsTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{                                   | 400 | malformed-json",
        "[]                                  | 400 | malformed-json",
        "null                                | 400 | malformed-json",
        "\"text\"                            | 400 | malformed-json",
        "{}                                  | 400 | invalid-request",
        "{\"items\":[]}                      | 400 | invalid-request",
        "{\"items\":{}}                      | 400 | invalid-request",
        "{\"items\":[{}]}                    | 400 | invalid-request",
        "{\"items\":[{\"sku\":\"A\",\"layer\":1}]}      | 400 | invalid-request",
        "{\"items\":[{\"sku\":\"A\",\"quantity\":0}]}   | 400 | invalid-request",
        "{\"items\":[{\"sku\":\"A\",\"quantity\":1.5}]} | 400 | invalid-request",
        "{\"items\":[{\"sku\":\"A\",\"quantity\":10001}]} | 400 | invalid-request",
        "{\"items\":[{\"sku\":\"A\",\"colour\":1}]}     | 400 | unknown-field",
        "{\"items\":[{\"sku\":\"A\"}],\"x\":1}          | 400 | unknown-field",
        "{\"items\":[{\"sku\":\"A\"}]}                  | 400 | invalid-request",
        "{\"items\":[{\"sku\":\"A\"}],\"buyer\":\"\"}     | 400 | invalid-request",
        "{\"items\":[{\"sku\":\"B\"}],\"buyer\":\"b\"}    | 400 | invalid-request",
        "{\"items\":[{\"layer\":1}],\"buyer\":\"b\"}      | 400 | invalid-request",
        "{\"items\":[{\"sku\":\"A\",\"quantity\":9999},{\"sku\":\"A\",\"quantity\":2}],\"buyer\":\"b\"} | 400 | invalid-request",
      })
  void aBadBodyIsRefusedPrecisely(String body, int status, String slug) throws Exception {
    String campaign = server.drop(10, null);
    server
        .service()
        .send(
            "POST", "/v1/campaigns/" + campaign + "/holds", body, Map.of("Idempotency-Key", "bad"))
        .expectProblem(status, slug);
  }

  @Test
  void aBodyHasALimitAndAType() throws Exception {
    String large = "{\"name\":\"" + "x".repeat(70_000) + "\"}";
    server
        .operator()
        .send("POST", "/v1/keys", large, Map.of())
        .expectProblem(413, "body-too-large");
    server
        .operator()
        .send("POST", "/v1/keys", "role=operator", Map.of("Content-Type", "text/plain"))
        .expectProblem(415, "unsupported-media-type");
    server.operator().post("/v1/keys", null).expectProblem(400, "bad-request");
    server.operator().send("GET", "/v1/keys", "{}", Map.of()).expectProblem(400, "bad-request");
  }

  @Test
  void everyAnswerCarriesItsRequestIdAndTheSecurityHeaders() throws Exception {
    for (String path : List.of("/", "/healthz", "/v1/campaigns", "/nothing", "/docs")) {
      Reply reply = server.anyone().get(path);
      assertThat(reply.header("X-Request-Id")).as(path).isPresent();
      assertThat(reply.header("Content-Security-Policy"))
          .hasValueSatisfying(
              policy -> assertThat(policy).contains("default-src 'none'").doesNotContain("unsafe"));
      assertThat(reply.header("X-Content-Type-Options")).hasValue("nosniff");
    }
    Reply own = server.anyone().send("GET", "/nothing", null, Map.of("X-Request-Id", "mine-1"));
    assertThat(own.expectProblem(404, "not-found").getString("requestId")).isEqualTo("mine-1");
    Reply unfit = server.anyone().send("GET", "/nothing", null, Map.of("X-Request-Id", "a b<c"));
    assertThat(unfit.header("X-Request-Id")).isPresent().isNotEqualTo("a b<c");
  }

  @Test
  void aMethodThatIsNotOfferedNamesThoseThatAre() throws Exception {
    Reply reply = server.operator().delete("/v1/keys");
    reply.expectProblem(405, "method-not-allowed");
    assertThat(reply.header("Allow")).hasValue("GET, HEAD, OPTIONS, POST");
  }

  @Test
  void aSlashBehindAPathChangesNothingOfWhatItAllows() throws Exception {
    for (String path : List.of("/v1/keys/", "/v1/%6beys")) {
      Reply reply = server.operator().send("DELETE", path, null, Map.of());
      reply.expectProblem(405, "method-not-allowed");
      assertThat(reply.header("Allow")).hasValue("GET, HEAD, OPTIONS, POST");
    }
  }

  @Test
  void twoKeysAreNoKey() throws Exception {
    try (RawHttp client = RawHttp.to(server.url())) {
      String key = "Authorization: Bearer " + RunningServer.OPERATOR_KEY + "\r\n";
      client.send("GET /v1/keys HTTP/1.1\r\nHost: localhost\r\n" + key + key + "\r\n");
      client.read().expectProblem(400, "bad-request");
    }
  }

  @Test
  void optionsNameTheMethodsAndOpenNothingToOtherSites() throws Exception {
    Map<String, String> origin =
        Map.of("Origin", "https://example.com", "Access-Control-Request-Method", "POST");
    for (Map.Entry<String, String> route :
        Map.of(
                "/v1/keys", "GET, HEAD, OPTIONS, POST",
                "/v1/campaigns/1/publish", "OPTIONS, POST",
                "/v1/holds/1", "DELETE, GET, HEAD, OPTIONS, PUT",
                "/readyz", "GET, HEAD, OPTIONS")
            .entrySet()) {
      Reply reply = server.anyone().send("OPTIONS", route.getKey(), null, origin);
      assertThat(reply.status()).as(route.getKey()).isEqualTo(204);
      assertThat(reply.header("Allow")).hasValue(route.getValue());
      assertThat(reply.header("Access-Control-Allow-Origin")).isEmpty();
      assertThat(reply.response().body()).isEmpty();
    }
    server.anyone().send("OPTIONS", "/v1/nosuch", null, Map.of()).expectProblem(404, "not-found");
  }

  @Test
  void aKeyTravelsAsABearerToken() throws Exception {
    Reply reply =
        server.anyone().send("GET", "/v1/keys", null, Map.of("Authorization", "Basic YTpi"));
    reply.expectProblem(401, "unauthorized");
    assertThat(reply.header("WWW-Authenticate")).hasValue("Bearer");
    server
        .anyone()
        .send(
            "GET",
            "/v1/keys",
            null,
            Map.of("Authorization", "bearer " + RunningServer.OPERATOR_KEY))
        .expect(200);
  }

  @Test
  void amountsAreWholeMinorUnits() throws Exception {
    String campaign = server.drop(10, null);
    JsonObject hold =
        server
            .service()
            .post("/v1/campaigns/" + campaign + "/holds", "m", cart("a", sku("A", 3)))
            .expect(201);
    assertThat(hold.getJsonObject("total"))
        .isEqualTo(new JsonObject().put("amount", 750).put("currency", "USD"));
  }
}
