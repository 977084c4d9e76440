package dev.lockstep.server;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Somebody who does jobs over HTTP. */
record Workbench(Client client, String queue) {
  static final int LONG_SECONDS = 600;

  static JsonObject job(Object payload) {
    return new JsonObject().put("kind", "pack").put("payload", payload);
  }

  /** The ids. */
  List<String> enqueue(JsonObject... jobs) throws Exception {
    String body = new JsonArray(List.of(jobs)).encode();
    return client
        .send("POST", "/v1/queues/" + queue + "/jobs", body, Map.of())
        .expect(201)
        .getJsonArray("jobs")
        .stream()
        .map(job -> ((JsonObject) job).getString("id"))
        .toList();
  }

  List<JsonObject> claim(int max) throws Exception {
    return claim(max, LONG_SECONDS, 0);
  }

  List<JsonObject> claim(int max, int leaseSeconds, int waitSeconds) throws Exception {
    JsonObject ask =
        new JsonObject()
            .put("max", max)
            .put("leaseSeconds", leaseSeconds)
            .put("waitSeconds", waitSeconds);
    return objects(
            client.post("/v1/queues/" + queue + "/claims", ask).expect(200).getJsonArray("claims"))
        .toList();
  }

  JsonObject claimOne() throws Exception {
    return claim(1).get(0);
  }

  Client.Reply end(JsonObject claim, String how, JsonObject body) throws Exception {
    return client.post("/v1/claims/" + claim.getString("token") + "/" + how, body);
  }

  Client.Reply complete(JsonObject claim) throws Exception {
    return end(claim, "complete", new JsonObject());
  }

  static Object payload(JsonObject claim) {
    return claim.getJsonObject("job").getValue("payload");
  }

  static Stream<JsonObject> objects(JsonArray array) {
    return array.stream().map(JsonObject.class::cast);
  }
}
