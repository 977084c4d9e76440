package dev.lockstep.cli.rush;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A client of the server. Thread-safe; every method blocks. */
final class Shop {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);
  private static final int MAX_TRIES = 8;
  private static final long MAX_WAIT_SECONDS = 5;

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT_TIMEOUT)
          .build();
  private final URI url;
  private final String key;

  Shop(URI url, String key) {
    this.url = url;
    this.key = key;
  }

  /**
   * @param status 0 without an answer
   * @param tookNanos duration of the last try
   */
  record Reply(int status, JsonObject body, long tookNanos) {
    /** The last part of a problem's type. */
    String slug() {
      String type = body.getString("type", "status-" + status);
      return type.substring(type.lastIndexOf('/') + 1);
    }
  }

  JsonObject get(String path) throws RushFailed, InterruptedException {
    return need(path, ask("GET", path, null, null));
  }

  JsonObject post(String path) throws RushFailed, InterruptedException {
    return need(path, ask("POST", path, null, null));
  }

  /**
   * Repeats the request until the answer is final, under one idempotency key, so that repeating
   * does not buy twice.
   */
  Reply buy(String campaign, String idempotencyKey, JsonObject body) throws InterruptedException {
    return ask("POST", "/v1/campaigns/" + campaign + "/purchases", idempotencyKey, body);
  }

  /** Requests that change something carry a key, or are harmless to repeat. */
  private Reply ask(
      String method, String path, @Nullable String idempotencyKey, @Nullable JsonObject body)
      throws InterruptedException {
    Reply reply = send(method, path, idempotencyKey, body);
    for (int tries = 1; tries < MAX_TRIES && mayPass(reply, idempotencyKey != null); tries++) {
      long seconds = reply.body().getLong("retryAfterSeconds", 1L);
      TimeUnit.SECONDS.sleep(Math.min(seconds, MAX_WAIT_SECONDS));
      reply = send(method, path, idempotencyKey, body);
    }
    return reply;
  }

  /** Without a key, a missing answer is final: there may be no server at all. */
  private static boolean mayPass(Reply reply, boolean keyed) {
    return reply.status() == 429
        || reply.status() == 503
        || (keyed && (reply.status() == 0 || isUnderWay(reply)));
  }

  /** The purchase is in progress; repeating the request will return its end. */
  private static boolean isUnderWay(Reply reply) {
    return reply.slug().equals("idempotency-key-in-use")
        || (reply.status() == 202 && "pending".equals(reply.body().getString("status")));
  }

  private Reply send(
      String method, String path, @Nullable String idempotencyKey, @Nullable JsonObject body)
      throws InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(url.resolve(path))
            .timeout(ANSWER_TIMEOUT)
            .header("Authorization", "Bearer " + key)
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body.encode()));
    if (body != null) {
      request.header("Content-Type", "application/json");
    }
    if (idempotencyKey != null) {
      request.header("Idempotency-Key", idempotencyKey);
    }
    long beganNanos = System.nanoTime();
    try {
      HttpResponse<String> response =
          http.send(request.build(), HttpResponse.BodyHandlers.ofString());
      long tookNanos = System.nanoTime() - beganNanos;
      return new Reply(response.statusCode(), new JsonObject(response.body()), tookNanos);
    } catch (IOException | DecodeException e) {
      return new Reply(0, new JsonObject(), System.nanoTime() - beganNanos);
    }
  }

  private JsonObject need(String path, Reply reply) throws RushFailed {
    if (reply.status() == 0) {
      throw new RushFailed(
          "no Lockstep server answers at " + url + "; start one with ./lockstep up");
    }
    if (reply.status() == 401 || reply.status() == 403) {
      throw new RushFailed(
          "this needs an operator's key: set LOCKSTEP_OPERATOR_KEY to the one that up printed");
    }
    if (reply.status() != 200) {
      throw new RushFailed(path + " returned " + reply.status() + " " + reply.slug());
    }
    return reply.body();
  }
}
