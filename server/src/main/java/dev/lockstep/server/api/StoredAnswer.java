package dev.lockstep.server.api;

import dev.lockstep.once.OnceResult;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.stream.Collectors;

/** Stores an answer with its idempotency key, and reads it back. */
public final class StoredAnswer {
  private StoredAnswer() {}

  /** The answer of work under a key, fresh or stored. */
  public static Answer of(OnceResult result) {
    if (result instanceof OnceResult.Done done) {
      return done.replayed() ? replayed(done.answer()) : parsed(done.answer());
    }
    return (result instanceof OnceResult.InUse ? Problem.keyInUse() : Problem.keyReused())
        .toAnswer();
  }

  public static String text(Answer answer) {
    JsonObject headers = new JsonObject();
    answer.headers().forEach(headers::put);
    return new JsonObject()
        .put("status", answer.status())
        .put("headers", headers)
        .put("body", answer.body())
        .encode();
  }

  public static Answer replayed(String text) {
    return replayed(parsed(text));
  }

  public static Answer parsed(String text) {
    JsonObject stored = new JsonObject(text);
    Map<String, String> headers =
        stored.getJsonObject("headers").stream()
            .collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().toString()));
    return new Answer(stored.getInteger("status"), stored.getJsonObject("body"), headers);
  }

  public static Answer replayed(Answer answer) {
    return answer.withHeader("Idempotency-Replayed", "true");
  }
}
