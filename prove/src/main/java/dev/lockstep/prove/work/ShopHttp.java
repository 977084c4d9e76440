package dev.lockstep.prove.work;

import dev.lockstep.prove.fault.Cluster;
import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Status;
import dev.lockstep.prove.node.Answer;
import dev.lockstep.prove.node.ShopSettings;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Speaks to shops and to their bank over HTTP. Thread-safe. */
final class ShopHttp {
  private static final Duration PATIENCE = Duration.ofSeconds(15);
  private static final int SERVER_ERROR = 500;

  /** Problems that say that the shop did nothing. */
  private static final Set<String> NOTHING_DONE =
      Set.of("overloaded", "rate-limited", "not-ready", "shutting-down");

  /** Problems that leave open what becomes of the repeated request. */
  private static final Set<String> UNDECIDED = Set.of("idempotency-key-in-use");

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(2))
          .build();
  private final Cluster cluster;

  ShopHttp(Cluster cluster) {
    this.cluster = cluster;
  }

  /** A shop's answer to a request, as fields of a purchase. */
  Answer ask(int shop, String method, String path, String key, @Nullable JsonObject body)
      throws InterruptedException {
    HttpResponse<String> response;
    try {
      response =
          send(
              cluster.shopUrl(shop).resolve(path),
              method,
              ShopSettings.OPERATOR_KEY,
              key.isEmpty() ? Map.of() : Map.of("Idempotency-Key", key),
              body);
    } catch (ConnectException e) {
      return Answer.failed("the node is down");
    } catch (IOException e) {
      return Answer.unknown(e.toString());
    }
    JsonObject json;
    try {
      json = response.body().isBlank() ? new JsonObject() : new JsonObject(response.body());
    } catch (DecodeException e) {
      return Answer.unknown("no JSON: " + response.statusCode());
    }
    return answer(response.statusCode(), json);
  }

  private static Answer answer(int status, JsonObject json) {
    Fields purchase = purchase(json.getJsonObject("purchase", json));
    if (status < 300) {
      return new Answer(Status.OK, purchase.with("http", status));
    }
    String type = json.getString("type", "");
    String slug = type.substring(type.lastIndexOf('/') + 1);
    if (NOTHING_DONE.contains(slug)) {
      return Answer.failed(slug);
    }
    if (status >= SERVER_ERROR || UNDECIDED.contains(slug)) {
      return Answer.unknown(status + " " + slug);
    }
    Fields said = purchase.has("purchase") ? purchase : Fields.NONE;
    return new Answer(Status.REFUSED, said.with("why", slug));
  }

  /** A purchase as a shop shows it; nothing if it is none. */
  static Fields purchase(JsonObject json) {
    if (!json.containsKey("total") || !json.containsKey("status")) {
      return Fields.NONE;
    }
    int quantity = 0;
    for (Object item : json.getJsonArray("items")) {
      quantity += ((JsonObject) item).getInteger("quantity", 0);
    }
    @Nullable String intent = json.getJsonObject("payment").getString("id");
    return Fields.of(
        "purchase", json.getString("id"),
        "buyer", json.getString("buyer"),
        "status", json.getString("status"),
        "quantity", quantity,
        "total", json.getJsonObject("total").getLong("amount"),
        "refunded", json.getJsonObject("refunded").getLong("amount"),
        "intent", intent == null ? "" : intent);
  }

  /** Reads the bank's books, past its proxy. */
  JsonObject bank(String path) throws IOException, InterruptedException {
    URI url = cluster.bank().orElseThrow().url().resolve(path);
    return new JsonObject(send(url, "GET", ShopSettings.STRIPE_KEY, Map.of(), null).body());
  }

  JsonObject shop(int shop, String method, String path, @Nullable JsonObject body)
      throws IOException, InterruptedException {
    URI url = cluster.shopUrl(shop).resolve(path);
    HttpResponse<String> response = send(url, method, ShopSettings.OPERATOR_KEY, Map.of(), body);
    if (response.statusCode() >= 300) {
      throw new IOException(path + " answered " + response.statusCode() + response.body());
    }
    return new JsonObject(response.body());
  }

  HttpResponse<String> send(
      URI url, String method, String bearer, Map<String, String> headers, @Nullable JsonObject body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(url)
            .timeout(PATIENCE)
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body.encode()));
    if (!bearer.isEmpty()) {
      request.setHeader("Authorization", "Bearer " + bearer);
    }
    if (body != null) {
      request.setHeader("Content-Type", "application/json");
    }
    headers.forEach(request::setHeader);
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }
}
