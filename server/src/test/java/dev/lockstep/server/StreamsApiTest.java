package dev.lockstep.server;

import static dev.lockstep.server.StreamStage.event;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.server.WebhookReceiver.Answer;
import dev.lockstep.server.WebhookReceiver.Received;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Streams over HTTP, delivered by a real relay to a real receiver. */
@Timeout(180)
class StreamsApiTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @RegisterExtension
  static final StreamStage streams = new StreamStage(server, StreamsApiTest::answer);

  /** The next of these keys is refused as it is: 422. */
  private static final String POISON = "poison";

  /** Its receiver stumbles over each of these. */
  private static final String STUMBLE = "stumble";

  private static final AtomicBoolean down = new AtomicBoolean();

  private static Answer answer(Received one) {
    String key = one.key();
    if (one.path().equals("/down") && down.get()) {
      return Answer.of(503).saying("closed for lunch");
    }
    if ((key.equals(POISON) || one.path().equals("/dots")) && one.seq() == 1) {
      return Answer.of(422).saying("no such thing");
    }
    return Answer.of(key.equals(STUMBLE) ? 500 : 204);
  }

  @Test
  void eventsReachAReceiverOfTheOldWaySignedAndEachKeysInOrder() throws Exception {
    Client operator = server.operator();
    JsonObject old = streams.webhook("a", "/trades").put("format", "plain");
    streams.define("trades", old.put("signature", "lockstep"));
    JsonArray events = new JsonArray();
    for (int i = 1; i <= 40; i++) {
      events.add(event("portfolio " + i % 4 + "/é%", "trade.booked", new JsonObject().put("n", i)));
    }
    JsonObject places =
        server
            .service()
            .send("POST", "/v1/streams/trades/events", events.encode(), Map.of())
            .expect(201);
    assertThat(places.getJsonArray("events").getJsonObject(4))
        .isEqualTo(new JsonObject().put("key", "portfolio 1/é%").put("seq", 2));
    Await.until("all have arrived", () -> streams.received("/trades").size() == 40);

    Map<String, List<Long>> byKey =
        streams.received("/trades").stream()
            .collect(
                Collectors.groupingBy(
                    one -> one.header("lockstep-key"),
                    Collectors.mapping(
                        one -> Long.parseLong(one.header("lockstep-seq")), Collectors.toList())));
    assertThat(byKey).hasSize(4);
    assertThat(byKey.get("portfolio 1/%C3%A9%25"))
        .isEqualTo(LongStream.rangeClosed(1, 10).boxed().toList());
    assertThat(byKey.values()).containsOnly(LongStream.rangeClosed(1, 10).boxed().toList());

    Received first = streams.received("/trades").get(0);
    assertThat(first.header("lockstep-stream")).isEqualTo("trades");
    assertThat(first.header("lockstep-type")).isEqualTo("trade.booked");
    assertThat(first.header("lockstep-id")).matches("\\d+");
    assertThat(first.header("content-type")).isEqualTo("application/json");
    assertThat(new JsonObject(first.body()).fieldNames()).containsExactly("n");
    assertSigned(first);

    String key = URLEncoder.encode("portfolio 1/é%", StandardCharsets.UTF_8);
    JsonObject page =
        operator.get("/v1/streams/trades/events?key=" + key + "&afterSeq=3&limit=2").expect(200);
    assertThat(
            operator
                .get(
                    "/v1/streams/trades/events?limit=1&key="
                        + key
                        + "&after="
                        + page.getString("next"))
                .expect(200)
                .getJsonArray("items")
                .getJsonObject(0)
                .getInteger("seq"))
        .isEqualTo(6);
    JsonObject fourth = page.getJsonArray("items").getJsonObject(0);
    assertThat(fourth.getInteger("seq")).isEqualTo(4);
    assertThat(fourth.getJsonObject("data")).isEqualTo(new JsonObject().put("n", 13));
    Await.until("nothing is left", () -> streams.sink("trades").getInteger("delivered") == 40);
    assertThat(streams.sink("trades").getJsonObject("lag").getInteger("events")).isZero();
    assertThat(operator.get("/metrics").response().body())
        .contains("lockstep_stream_lag_events{sink=\"a\",stream=\"trades\"}");
  }

  private static void assertSigned(Received one) throws Exception {
    String secret =
        server
            .operator()
            .get("/v1/webhooks/secret?url=" + streams.receiverUrl())
            .expect(200)
            .getString("lockstepSecret");
    String signature = one.header("lockstep-signature");
    String seconds = signature.substring(2, signature.indexOf(','));
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    byte[] expected = mac.doFinal((seconds + "." + one.body()).getBytes(StandardCharsets.UTF_8));
    assertThat(signature).isEqualTo("t=" + seconds + ",v1=" + HexFormat.of().formatHex(expected));
  }

  @Test
  void oneBadEventRefusesAllAndARepetitionAppendsNothing() throws Exception {
    streams.define("whole");
    Client shop = server.service();
    String path = "/v1/streams/whole/events";
    JsonArray two = new JsonArray().add(event("k", "t", 1)).add(event("k", "t", 2));
    JsonArray bad = two.copy().add(new JsonObject().put("key", "k").put("type", "t"));
    JsonObject problem =
        shop.send("POST", path, bad.encode(), Map.of()).expectProblem(400, "invalid-request");
    assertThat(problem.getString("field")).isEqualTo("[2].data");
    Map<String, String> key = Map.of("Idempotency-Key", "e1");
    JsonObject first = shop.send("POST", path, two.encode(), key).expect(201);
    Reply again = shop.send("POST", path, two.encode(), key);
    assertThat(again.expect(201)).isEqualTo(first);
    assertThat(again.replayed()).isTrue();
    shop.send("POST", path, event("k", "t", 3).encode(), key)
        .expectProblem(422, "idempotency-key-reused");
    assertThat(first.getJsonArray("events").getJsonObject(1).getInteger("seq")).isEqualTo(2);
    assertThat(shop.get(path + "?key=k").expect(200).getJsonArray("items")).hasSize(2);

    String large = "x".repeat(256 * 1024);
    shop.send("POST", path, event("k", "t", large).encode(), Map.of())
        .expectProblem(413, "event-too-large");
    shop.send("POST", path, event("k", "t", large.repeat(4)).encode(), Map.of())
        .expectProblem(413, "body-too-large");
    // What fits exactly is taken: two bytes are the quotes.
    shop.send("POST", path, event("k", "t", large.substring(2)).encode(), Map.of()).expect(201);
  }

  @Test
  void aRefusedEventParksItsKeyUntilItIsSkippedAndOthersFlow() throws Exception {
    Client operator = server.operator();
    streams.define("parking", streams.webhook("a", "/parking"));
    for (String key : List.of(POISON, POISON, "fine")) {
      streams.append("parking", key);
    }
    Await.until("it is parked", () -> streams.sink("parking").getInteger("parked") == 1);
    JsonObject parked = streams.sink("parking").getJsonArray("parkedKeys").getJsonObject(0);
    assertThat(parked.getString("key")).isEqualTo(POISON);
    assertThat(parked.getString("state")).isEqualTo("parked");
    assertThat(parked.getInteger("seq")).isEqualTo(1);
    assertThat(parked.getString("error")).isEqualTo("Answered 422: no such thing");
    Await.until("others flow", () -> streams.arrived("/parking", "fine").equals(List.of(1L)));
    assertThat(
            operator
                .get("/v1/streams/parking/sinks/a/keys")
                .expect(200)
                .getJsonArray("items")
                .getJsonObject(0))
        .isEqualTo(parked);

    String path = "/v1/streams/parking/sinks/a/keys/" + POISON;
    operator.post(path + "/retry", null).expect(200);
    Await.until("it was tried again", () -> streams.arrived("/parking", POISON).size() == 2);
    Await.until("and is parked again", () -> streams.sink("parking").getInteger("parked") == 1);
    JsonObject skip = new JsonObject().put("seq", 2).put("reason", "sent by hand");
    assertThat(
            operator.post(path + "/skip", skip).expectProblem(409, "other-seq").getInteger("seq"))
        .isEqualTo(1);
    operator.post(path + "/skip", skip.copy().put("seq", 1)).expect(200);
    Await.until("its next follows", () -> streams.arrived("/parking", POISON).contains(2L));
    assertThat(streams.arrived("/parking", POISON)).containsExactly(1L, 1L, 2L);
    Await.until("it flows", () -> streams.sink("parking").getJsonArray("parkedKeys").isEmpty());
    operator.post(path + "/retry", null).expectProblem(409, "key-not-parked");

    JsonArray actions =
        operator.get("/v1/streams/parking/actions").expect(200).getJsonArray("items");
    assertThat(actions.getJsonObject(0).getString("action")).isEqualTo("skip");
    assertThat(actions.getJsonObject(0).getString("reason")).isEqualTo("sent by hand");
    assertThat(actions.getJsonObject(0).getString("actor")).isEqualTo("operator:configured");
  }

  @Test
  void aKeyThatNoPathCanNameIsRetriedAndSkippedByTheBody() throws Exception {
    Client operator = server.operator();
    streams.define("dots", streams.webhook("a", "/dots"));
    String sink = "/v1/streams/dots/sinks/a";
    for (String key : List.of("..", ".", "a/b")) {
      streams.append("dots", key);
      streams.append("dots", key);
      JsonObject body = new JsonObject().put("key", key).put("reason", "sent by hand");
      Await.until("it is parked", () -> streams.sink("dots").getInteger("parked") == 1);
      operator.post(sink + "/retry", body).expect(200);
      Await.until("it was tried again", () -> streams.arrived("/dots", key).size() == 2);
      Await.until("and is parked again", () -> streams.sink("dots").getInteger("parked") == 1);
      operator.post(sink + "/skip", body.copy().put("seq", 1)).expect(200);
      Await.until("its next follows", () -> streams.arrived("/dots", key).contains(2L));
      Await.until("it flows", () -> streams.sink("dots").getInteger("parked") == 0);
    }
  }

  @Test
  void aReceiverThatIsDownSpendsNoAttemptsAndGetsEverythingLater() throws Exception {
    down.set(true);
    streams.define("outage", streams.webhook("a", "/down"));
    for (int i = 0; i < 5; i++) {
      streams.append("outage", "k" + i % 2);
    }
    Await.until("it is known to be down", () -> streams.sink("outage").getString("down") != null);
    assertThat(streams.sink("outage").getString("down"))
        .contains("503")
        .contains("closed for lunch");
    assertThat(streams.sink("outage").getJsonObject("lag").getInteger("events")).isEqualTo(5);
    down.set(false);
    Await.until("all is delivered", () -> streams.sink("outage").getInteger("delivered") == 5);
    Await.until("no key waits", () -> streams.sink("outage").getJsonArray("parkedKeys").isEmpty());
    assertThat(distinct(streams.arrived("/down", "k0"))).containsExactly(1L, 2L, 3L);
  }

  @Test
  void anEventThatItsReceiverStumblesOverWaitsAloneWhileOthersFlow() throws Exception {
    streams.define("stumbling", streams.webhook("a", "/stumbling"));
    streams.append("stumbling", STUMBLE);
    for (int i = 0; i < 20; i++) {
      streams.append("stumbling", "k" + i);
    }
    Await.until("others flow", () -> streams.sink("stumbling").getInteger("delivered") == 20);
    // Only what gets through tells that the receiver is up; so there must be more of it.
    Await.until(
        "the key waits by itself",
        () -> {
          streams.append("stumbling", "more");
          return streams.sink("stumbling").getInteger("waiting") == 1;
        });
    assertThat(
            streams.sink("stumbling").getJsonArray("parkedKeys").getJsonObject(0).getString("key"))
        .isEqualTo(STUMBLE);
  }

  @Test
  void changedSinksKeepTheirProgressAndAReplaySendsTheSameAgain() throws Exception {
    Client operator = server.operator();
    streams.define("moving", streams.webhook("a", "/before"));
    streams.append("moving", "k");
    streams.append("moving", "k");
    Await.until("both arrived", () -> streams.arrived("/before", "k").equals(List.of(1L, 2L)));
    Await.until("and that is known", () -> streams.sink("moving").getInteger("delivered") == 2);
    streams.define(
        "moving",
        streams.webhook("a", "/after"),
        new JsonObject().put("name", "b").put("type", "log"));
    streams.append("moving", "k");
    Await.until("only the new one comes", () -> streams.arrived("/after", "k").equals(List.of(3L)));
    Await.until("and that is known", () -> streams.sink("moving").getInteger("delivered") == 3);

    String replay = "/v1/streams/moving/sinks/a/replay";
    operator.post(replay, new JsonObject().put("fromSeq", 2).put("key", "k")).expect(200);
    Await.until("from there on", () -> streams.arrived("/after", "k").equals(List.of(3L, 2L, 3L)));
    Await.until("it flows", () -> streams.sink("moving").getJsonArray("parkedKeys").isEmpty());
    operator.post(replay, new JsonObject().put("fromSeq", 1)).expect(200);
    Await.until(
        "all", () -> streams.arrived("/after", "k").equals(List.of(3L, 2L, 3L, 1L, 2L, 3L)));
  }

  @Test
  void whatCannotBeIsRefusedPreciselyAndChangesNothing() throws Exception {
    Client operator = server.operator();
    streams.define("fixed");
    assertRefused(
        "sinks[0].url", 400, "invalid-request", streams.webhook("a", "/").put("url", "ftp://x"));
    assertRefused(
        "sinks[0].topic",
        409,
        "kafka-not-configured",
        new JsonObject().put("name", "k").put("type", "kafka").put("topic", "t"));
    assertRefused(
        "sinks[1].name",
        400,
        "invalid-request",
        streams.webhook("a", "/"),
        streams.webhook("a", "/other"));
    assertRefused("sinks[0].name", 400, "invalid-request", streams.webhook("a/b", "/"));
    assertRefused(
        "sinks[0].type", 400, "invalid-request", streams.webhook("a", "/").put("type", "ftp"));
    assertThat(streams.sinks("fixed")).isEmpty();
    operator
        .put("/v1/streams/a%20b", new JsonObject().put("sinks", new JsonArray()))
        .expectProblem(400, "invalid-request");
    operator.post("/v1/streams/none/events", event("k", "t", 1)).expectProblem(404, "not-found");
    operator
        .post("/v1/streams/sales/events", event("k", "t", 1))
        .expectProblem(409, "stream-reserved");
    operator.get("/v1/streams/none").expectProblem(404, "not-found");
    operator.get("/v1/streams/fixed/events").expectProblem(400, "invalid-request");
    operator
        .post("/v1/streams/fixed/events", event("a\nb", "t", 1))
        .expectProblem(400, "invalid-request");
    operator.post("/v1/streams/fixed/sinks/a/keys/k/retry", null).expectProblem(404, "not-found");
    operator
        .post("/v1/streams/fixed/sinks/a/replay", new JsonObject().put("fromSeq", 0))
        .expectProblem(400, "invalid-request");
    assertThat(
            operator.get("/v1/streams").expect(200).getJsonArray("items").stream()
                .map(one -> ((JsonObject) one).getString("name")))
        .contains("sales", "fixed")
        .doesNotContain("none");
  }

  private static void assertRefused(String field, int status, String slug, JsonObject... sinks)
      throws Exception {
    JsonObject problem =
        server
            .operator()
            .put("/v1/streams/fixed", new JsonObject().put("sinks", new JsonArray(List.of(sinks))))
            .expectProblem(status, slug);
    assertThat(problem.getString("field")).isEqualTo(field);
  }

  @Test
  void severalNodesShareThePartitionsAndOneThatStopsHandsItsOwnOver() throws Exception {
    streams.define("shared", streams.webhook("a", "/shared"));
    try (Server second = server.start(false)) {
      Await.until("both relay", () -> relays().size() == 2);
      for (int i = 0; i < 32; i++) {
        streams.append("shared", "k" + i);
      }
      Await.until("all is delivered", () -> streams.sink("shared").getInteger("delivered") == 32);
      assertThat(second.url()).isNotEqualTo(server.url());
    }
    Await.until("one relays all", () -> relays().size() == 1);
    streams.append("shared", "k1");
    Await.until(
        "it goes on", () -> distinct(streams.arrived("/shared", "k1")).equals(List.of(1L, 2L)));
  }

  /** The nodes that own a partition; with "nobody" while some are between two owners. */
  private static Set<String> relays() throws Exception {
    return server.operator().get("/v1/relays").expect(200).getJsonArray("partitions").stream()
        .map(one -> ((JsonObject) one).getString("node", "nobody"))
        .map(node -> node == null ? "nobody and others" : node)
        .collect(Collectors.toSet());
  }

  private static List<Long> distinct(List<Long> some) {
    return some.stream().distinct().toList();
  }
}
