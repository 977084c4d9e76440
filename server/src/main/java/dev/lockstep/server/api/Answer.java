package dev.lockstep.server.api;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a handler answers. Immutable by convention: nobody changes the body after it is given.
 *
 * @param encoded the body's bytes if a worker has encoded it, which takes long for a large one
 */
public record Answer(
    int status, JsonObject body, Map<String, String> headers, @Nullable Buffer encoded) {
  static final String PROBLEM_TYPE = "application/problem+json";
  static final CharSequence REQUEST_ID = HttpHeaders.createOptimized("X-Request-Id");
  private static final CharSequence JSON_TYPE = HttpHeaders.createOptimized("application/json");

  /** The handler sends the response itself, piece by piece. */
  public static final Answer STREAMING = new Answer(0, new JsonObject(), Map.of());

  public Answer {
    headers = Map.copyOf(headers);
  }

  public Answer(int status, JsonObject body, Map<String, String> headers) {
    this(status, body, headers, null);
  }

  public static Answer ok(JsonObject body) {
    return of(200, body);
  }

  public static Answer created(String location, JsonObject body) {
    return of(201, body).withHeader("Location", location);
  }

  public static Answer of(int status, JsonObject body) {
    return new Answer(status, body, Map.of());
  }

  /** The client already has it. */
  static Answer notModified() {
    return of(304, new JsonObject());
  }

  /** Adds the version that a change names in {@code If-Match}. */
  public Answer withVersion(int version) {
    return withHeader("ETag", "\"" + version + "\"");
  }

  public Answer withHeader(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new Answer(status, body, more, encoded);
  }

  /** With its bytes. Call it on a worker: a large body would hold up an event loop. */
  Answer withBytes() {
    return streaming() ? this : new Answer(status, body, headers, body.toBuffer());
  }

  /** The body's bytes. */
  Buffer bytes() {
    return encoded == null ? body.toBuffer() : encoded;
  }

  boolean streaming() {
    return status == 0;
  }

  /** Does nothing if the client already has another answer or is gone. */
  void send(HttpServerResponse response) {
    if (response.ended() || response.closed()) {
      return;
    }
    response.setStatusCode(status);
    if (status == 304) {
      headers.forEach(response::putHeader);
      response.end();
      return;
    }
    response.putHeader(HttpHeaders.CONTENT_TYPE, JSON_TYPE);
    headers.forEach(response::putHeader);
    boolean problem = PROBLEM_TYPE.equals(headers.get("Content-Type"));
    String requestId = response.headers().get(REQUEST_ID);
    response.end(
        problem && requestId != null
            ? body.copy().put("requestId", requestId).toBuffer()
            : bytes());
  }
}
