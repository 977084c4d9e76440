package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Somebody with a key, or without one.
 *
 * @param cookie a shop visitor's, sent as the shop's own pages send it
 */
public record Client(String url, Optional<String> key, Optional<String> cookie) {
  /** HTTP/1.1, as most clients speak it; one connection a request that is under way. */
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  public Client(String url, Optional<String> key) {
    this(url, key, Optional.empty());
  }

  /** An answer, with the assertions that most tests make of it. */
  public record Reply(HttpResponse<String> response) {
    public int status() {
      return response.statusCode();
    }

    public JsonObject json() {
      return new JsonObject(response.body());
    }

    public Optional<String> header(String name) {
      return response.headers().firstValue(name);
    }

    public boolean replayed() {
      return header("Idempotency-Replayed").equals(Optional.of("true"));
    }

    public JsonObject expect(int status) {
      assertThat(status()).as("%s: %s", response.uri(), response.body()).isEqualTo(status);
      return json();
    }

    /** A problem of this status and slug, complete as the contract says. */
    public JsonObject expectProblem(int status, String slug) {
      JsonObject problem = expect(status);
      assertThat(header("Content-Type")).hasValue("application/problem+json");
      assertThat(problem.getString("type")).isEqualTo("https://lockstep.dev/problems/" + slug);
      assertThat(problem.getInteger("status")).isEqualTo(status);
      assertThat(problem.getString("title")).isNotBlank();
      assertThat(problem.getString("detail")).isNotBlank().doesNotContain("Exception");
      assertThat(header("X-Request-Id")).hasValue(problem.getString("requestId"));
      return problem;
    }
  }

  public Reply get(String path) throws Exception {
    return send("GET", path, null, Map.of());
  }

  public Reply post(String path, @Nullable JsonObject body) throws Exception {
    return send("POST", path, body == null ? null : body.encode(), Map.of());
  }

  /** With an Idempotency-Key. */
  public Reply post(String path, String idempotencyKey, @Nullable JsonObject body)
      throws Exception {
    return send(
        "POST",
        path,
        body == null ? null : body.encode(),
        Map.of("Idempotency-Key", idempotencyKey));
  }

  public Reply put(String path, JsonObject body) throws Exception {
    return send("PUT", path, body.encode(), Map.of());
  }

  public Reply delete(String path) throws Exception {
    return send("DELETE", path, null, Map.of());
  }

  public Reply send(String method, String path, @Nullable String body, Map<String, String> headers)
      throws Exception {
    HttpRequest request = request(method, path, body, headers).build();
    return new Reply(HTTP.send(request, HttpResponse.BodyHandlers.ofString()));
  }

  /**
   * Sends and goes on. An answer that is not there in time is a failure.
   *
   * @param idempotencyKey none if it is empty
   */
  public CompletableFuture<Reply> begin(
      Duration patience,
      String method,
      String path,
      String idempotencyKey,
      @Nullable JsonObject body) {
    Map<String, String> headers =
        idempotencyKey.isEmpty() ? Map.of() : Map.of("Idempotency-Key", idempotencyKey);
    HttpRequest request =
        request(method, path, body == null ? null : body.encode(), headers)
            .timeout(patience)
            .build();
    return HTTP.sendAsync(request, HttpResponse.BodyHandlers.ofString()).thenApply(Reply::new);
  }

  private HttpRequest.Builder request(
      String method, String path, @Nullable String body, Map<String, String> headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path))
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body));
    if (body != null) {
      request.setHeader("Content-Type", "application/json");
    }
    key.ifPresent(secret -> request.setHeader("Authorization", "Bearer " + secret));
    cookie.ifPresent(
        value -> request.setHeader("Cookie", value).setHeader("Sec-Fetch-Site", "same-origin"));
    headers.forEach(request::setHeader);
    return request;
  }

  /** Makes a campaign and publishes it; its id. */
  public String publish(JsonObject campaign) throws Exception {
    String id = post("/v1/campaigns", campaign).expect(201).getString("id");
    post("/v1/campaigns/" + id + "/publish", null).expect(200);
    return id;
  }

  /** Buys one of a drop's product, sku A, once for each buyer. */
  public Reply buyOne(String campaign, String buyer) throws Exception {
    return post(
        "/v1/campaigns/" + campaign + "/purchases",
        buyer,
        order(buyer, "pm_card_visa", sku("A", 1)));
  }

  /** Holds one of a drop's product, sku A, once for each buyer. */
  public Reply holdOne(String campaign, String buyer) throws Exception {
    return post("/v1/campaigns/" + campaign + "/holds", buyer, cart(buyer, sku("A", 1)));
  }

  /** A cart for a buyer. */
  public static JsonObject cart(String buyer, JsonObject... items) {
    JsonArray list = new JsonArray();
    for (JsonObject item : items) {
      list.add(item);
    }
    return new JsonObject().put("buyer", buyer).put("items", list);
  }

  /** One position of a layer, to be paid at once. */
  public static JsonObject order(String buyer, int layer, String paymentMethod) {
    return new JsonObject()
        .put("buyer", buyer)
        .put("layer", layer)
        .put("paymentMethod", paymentMethod);
  }

  /** Items, to be paid at once. */
  public static JsonObject order(String buyer, String paymentMethod, JsonObject... items) {
    return cart(buyer, items).put("paymentMethod", paymentMethod);
  }

  public static JsonObject sku(String sku, int quantity) {
    return new JsonObject().put("sku", sku).put("quantity", quantity);
  }

  public static JsonObject layer(int layer, int quantity) {
    return new JsonObject().put("layer", layer).put("quantity", quantity);
  }
}
