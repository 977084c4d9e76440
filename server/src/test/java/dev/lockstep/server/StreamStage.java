package dev.lockstep.server;

import dev.lockstep.server.WebhookReceiver.Answer;
import dev.lockstep.server.WebhookReceiver.Received;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Streams of a running server, and a receiver to which they can be sent. */
public final class StreamStage implements AfterAllCallback {
  private final RunningServer server;
  private final WebhookReceiver receiver;

  public StreamStage(RunningServer server) {
    this(server, one -> Answer.of(204));
  }

  public StreamStage(RunningServer server, Function<Received, Answer> answering) {
    this.server = server;
    try {
      this.receiver = new WebhookReceiver().answering(answering);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    receiver.close();
  }

  String receiverUrl() {
    return receiver.url();
  }

  public JsonObject webhook(String name, String path) {
    return new JsonObject()
        .put("name", name)
        .put("type", "webhook")
        .put("url", receiver.url() + path);
  }

  public void define(String stream, JsonObject... sinks) throws Exception {
    server
        .operator()
        .put("/v1/streams/" + stream, new JsonObject().put("sinks", new JsonArray(List.of(sinks))))
        .expect(200);
  }

  public static JsonObject event(String key, String type, Object data) {
    return new JsonObject().put("key", key).put("type", type).put("data", data);
  }

  public void append(String stream, String key) throws Exception {
    server
        .operator()
        .post("/v1/streams/" + stream + "/events", event(key, "t", new JsonObject()))
        .expect(201);
  }

  public JsonArray sinks(String stream) throws Exception {
    return server.operator().get("/v1/streams/" + stream).expect(200).getJsonArray("sinks");
  }

  /** Its first. */
  public JsonObject sink(String stream) throws Exception {
    return sinks(stream).getJsonObject(0);
  }

  public List<JsonObject> events(String stream, String key) throws Exception {
    return server
        .operator()
        .get("/v1/streams/" + stream + "/events?key=" + key)
        .expect(200)
        .getJsonArray("items")
        .stream()
        .map(JsonObject.class::cast)
        .toList();
  }

  public List<Received> received(String path) {
    return receiver.received(path);
  }

  /** The sequences of a key, as they came. */
  public List<Long> arrived(String path, String key) {
    return of(path, key).map(Received::seq).toList();
  }

  public List<String> types(String path, String key) {
    return of(path, key).map(Received::type).toList();
  }

  private Stream<Received> of(String path, String key) {
    return received(path).stream().filter(one -> one.key().equals(key));
  }
}
