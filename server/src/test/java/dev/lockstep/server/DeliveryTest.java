package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import dev.lockstep.server.WebhookReceiver.Answer;
import dev.lockstep.server.WebhookReceiver.Received;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.outgoing.OutgoingConfig;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Deliveries to webhooks, from the schedule to the receiver's door, over real HTTP. */
@Timeout(120)
class DeliveryTest {
  /** Names that lead to this machine: for whoever may not send there. */
  private static final OutgoingConfig GUARDED =
      OutgoingConfig.DEFAULT.withResolver(host -> List.of(InetAddress.getLoopbackAddress()));

  @RegisterExtension static final RunningServer server = new RunningServer();

  @RegisterExtension
  static final RunningServer guarded =
      new RunningServer()
          .delivering(
              RunningServer.DELIVERIES
                  .withOutgoing(GUARDED)
                  .withSigningKeys(List.of(Secret.of("m".repeat(32)))));

  private static final Map<String, WebhookReceiver> receivers = new ConcurrentHashMap<>();

  @BeforeAll
  static void open() throws Exception {
    receivers.put("receiver", new WebhookReceiver());
  }

  @AfterAll
  static void close() {
    receivers.values().forEach(WebhookReceiver::close);
  }

  @Test
  void aDeliveryIsSignedAndSaysWhatItIs() throws Exception {
    receiver().answering(one -> Answer.of(204));
    Instant at = Instant.now().plusMillis(200);
    JsonObject body =
        new JsonObject().put("text", "ありがとう \"\\ é").put("n", 1.50).put("list", new JsonArray());
    JsonObject schedule = schedule("/signed", at, body, 3);

    Received one = await("/signed", 1).get(0);

    assertThat(new JsonObject(one.body())).isEqualTo(body);
    assertThat(one.header("Content-Type")).isEqualTo("application/json");
    assertThat(one.header("Lockstep-Attempt")).isEqualTo("1");
    assertThat(one.header("Lockstep-Schedule")).isEqualTo(schedule.getString("id"));
    assertThat(one.header("Lockstep-Due")).isEqualTo(schedule.getString("nextAt"));
    assertThat(one.header("User-Agent")).startsWith("Lockstep/");
    assertThat(one.headers()).doesNotContainKeys("Lockstep-signature", "Lockstep-delivery");
    new Webhook(secret(server, receiver().url(), "secret")).verify(one.body(), one.headers());
    assertThatThrownBy(
            () ->
                new Webhook(secret(server, receiver().url(), "secret"))
                    .verify(one.body(), swapped(one.headers(), "another")))
        .isInstanceOf(WebhookVerificationException.class);

    JsonObject job = awaitJob(one.id(), "done");
    assertThat(job.getJsonArray("attempts")).hasSize(1);
    assertThat(job.getJsonObject("payload").getString("schedule"))
        .isEqualTo(schedule.getString("id"));
  }

  private static Map<String, List<String>> swapped(Map<String, List<String>> headers, String id) {
    Map<String, List<String>> changed = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    changed.putAll(headers);
    changed.put("webhook-id", List.of(id));
    return changed;
  }

  @Test
  void aScheduleThatAsksForItOrIsFromBeforeIsSignedTheOldWay() throws Exception {
    receiver().answering(one -> Answer.of(204));
    JsonObject asking = body(receiver().url() + "/asking", Instant.now(), new JsonObject(), 1);
    asking.getJsonObject("deliver").put("signature", "lockstep");
    server.operator().post("/v1/schedules", asking).expect(201);
    JsonObject yearly =
        body(receiver().url() + "/before", Instant.now().plusSeconds(3_600), new JsonObject(), 1);
    JsonObject before = server.operator().post("/v1/schedules", yearly).expect(201);
    assertThat(before.getJsonObject("deliver").getString("signature")).isEqualTo("standard");
    server
        .database()
        .execute(
            "UPDATE lockstep.job_schedule SET payload = (payload::jsonb - 'signature')::json WHERE id = '"
                + before.getString("id")
                + "'");
    String path = "/v1/schedules/" + before.getString("id");
    JsonObject change =
        new JsonObject()
            .put("when", new JsonObject().put("at", Instant.now().toString()))
            .put("deliver", new JsonObject().put("body", new JsonObject().put("n", 2)));
    JsonObject changed =
        server
            .operator()
            .send("PATCH", path, change.encode(), Map.of("If-Match", "\"1\""))
            .expect(200);
    assertThat(changed.getJsonObject("deliver").getString("signature")).isEqualTo("lockstep");

    for (String where : List.of("/asking", "/before")) {
      Received one = await(where, 1).get(0);
      String[] parts = one.header("Lockstep-Signature").split("[=,]", -1);
      assertThat(parts).hasSize(4).startsWith("t", parts[1], "v1");
      String secret = secret(server, receiver().url(), "lockstepSecret");
      assertThat(parts[3]).isEqualTo(hmac(secret, parts[1] + "." + one.body()));
      assertThat(one.header("Lockstep-Delivery")).hasSize(36);
      assertThat(one.headers()).doesNotContainKeys("Webhook-id", "Webhook-signature");
    }
  }

  @Test
  void aDeliveryThatIsNotTakenComesAgainUnderTheSameIdUntilItIs() throws Exception {
    receiver()
        .answering(
            one ->
                switch (one.header("Lockstep-Attempt")) {
                  case "1" -> Answer.of(500).saying("not now");
                  case "2" -> Answer.of(302).with("Location", receiver().url() + "/elsewhere");
                  default -> Answer.of(200);
                });
    JsonObject body = new JsonObject().put("n", 1);
    schedule("/retried", Instant.now(), body, 5);

    List<Received> all = await("/retried", 3);

    assertThat(all.stream().map(Received::id).distinct()).hasSize(1);
    assertThat(all.stream().map(one -> one.header("Lockstep-Due")).distinct()).hasSize(1);
    assertThat(all.stream().map(Received::body)).containsOnly(body.encode());
    assertThat(all.stream().map(one -> one.header("Lockstep-Attempt")))
        .containsExactly("1", "2", "3");
    assertThat(receiver().received("/elsewhere")).as("no redirect is followed").isEmpty();
    JsonObject job = awaitJob(all.get(0).id(), "done");
    assertThat(errors(job)).containsExactly("Answered 500: not now", "Answered 302", null);
    assertThat(job.getInteger("failedAttempts")).isEqualTo(2);
  }

  @Test
  void aDeliveryThatIsNeverTakenEndsDeadWithEveryErrorAndCanBeBroughtBack() throws Exception {
    receiver().answering(one -> Answer.of(503).saying("closed " + one.header("Lockstep-Attempt")));
    schedule("/dead", Instant.now(), new JsonObject(), 2);
    String id = await("/dead", 2).get(0).id();

    JsonObject dead = awaitJob(id, "dead");

    assertThat(errors(dead)).containsExactly("Answered 503: closed 1", "Answered 503: closed 2");
    assertThat(dead.getString("reason")).contains("2 times").contains("closed 2");
    receiver().answering(one -> Answer.of(200));
    server.operator().post("/v1/jobs/" + id + "/retry", null).expect(200);
    List<Received> all = await("/dead", 3);
    assertThat(all.get(2).id()).isEqualTo(id);
    awaitJob(id, "done");
    server.operator().post("/v1/jobs/" + id + "/retry", null).expectProblem(409, "job-done");
    server.operator().post("/v1/jobs/" + id + "/cancel", null).expectProblem(409, "job-done");
  }

  @Test
  void aReceiverThatIsGoneIsNotAskedAgain() throws Exception {
    receiver().answering(one -> Answer.of(410));
    schedule("/gone", Instant.now(), new JsonObject(), 5);

    JsonObject dead = awaitJob(await("/gone", 1).get(0).id(), "dead");

    assertThat(dead.getString("reason")).isEqualTo("Answered 410");
    assertThat(receiver().received("/gone")).hasSize(1);
  }

  @Test
  void aReceiverSaysWhenToComeBackWithinBounds() throws Exception {
    receiver().answering(one -> Answer.of(429).with("Retry-After", "86400"));
    schedule("/later", Instant.now(), new JsonObject(), 5);
    Instant before = Instant.now();

    JsonObject job = awaitJob(await("/later", 1).get(0).id(), "scheduled");

    assertThat(Instant.parse(job.getString("dueAt")))
        .isBetween(before.plusSeconds(3_500), Instant.now().plusSeconds(3_601));
    receiver().answering(one -> Answer.of(200));
    server.operator().post("/v1/jobs/" + job.getString("id") + "/retry", null).expect(200);
    assertThat(await("/later", 2).get(1).header("Lockstep-Attempt")).isEqualTo("2");
  }

  @Test
  void eachReceiverHasASecretOfItsOwnThatOnlyOperatorsAreTold() throws Exception {
    String secret = secret(server, "https://a.example/x");
    assertThat(secret).startsWith("whsec_").hasSizeGreaterThan(40);
    assertThat(secret(server, "https://A.example:443/y?z")).isEqualTo(secret);
    for (String other :
        List.of("http://a.example/", "https://b.example/", "https://a.example:1/")) {
      assertThat(secret(server, other)).isNotEqualTo(secret);
    }
    assertThat(secret(guarded, "https://a.example/x"))
        .as("from another master")
        .isNotEqualTo(secret);
    server.operator().get("/v1/webhooks/secret").expectProblem(400, "invalid-request");
    server.operator().get("/v1/webhooks/secret?url=x").expectProblem(400, "invalid-request");
    server
        .service()
        .get("/v1/webhooks/secret?url=https://a.example/")
        .expectProblem(403, "forbidden");
    try (Server another = server.start(false)) {
      JsonObject same =
          new Client(another.url(), server.operator().key())
              .get("/v1/webhooks/secret?url=https://a.example/")
              .expect(200);
      assertThat(same.getString("secret")).as("on every node").isEqualTo(secret);
    }
  }

  @Test
  void targetsInsideAreRefusedWhenTheyAreNamedAndWhenTheyAreMeant() throws Exception {
    Client operator = guarded.operator();
    for (String url :
        List.of(
            receiver().url(),
            "http://localhost:8080/",
            "http://10.1.2.3/",
            "http://[::ffff:192.168.0.1]/",
            "http://169.254.169.254/latest/meta-data")) {
      JsonObject problem =
          operator
              .post("/v1/schedules", body(url, Instant.now(), new JsonObject(), 3))
              .expectProblem(400, "invalid-request");
      assertThat(problem.getString("field")).isEqualTo("deliver.webhook");
    }
    int port = URI.create(receiver().url()).getPort();
    operator
        .post(
            "/v1/schedules",
            body("http://inside.test:" + port + "/ssrf", Instant.now(), new JsonObject(), 3))
        .expect(201);

    Await.until(
        "refused when it was to be delivered",
        () -> jobs(guarded, "state=dead&kind=webhook").size() == 1);

    assertThat(jobs(guarded, "state=dead&kind=webhook").getJsonObject(0).getString("reason"))
        .isEqualTo("Not sent: inside.test leads to a loopback address");
    assertThat(receiver().received("/ssrf")).isEmpty();
  }

  private static WebhookReceiver receiver() {
    return Objects.requireNonNull(receivers.get("receiver"));
  }

  private static JsonObject schedule(String path, Instant at, JsonObject body, int maxAttempts)
      throws Exception {
    return server
        .operator()
        .post("/v1/schedules", body(receiver().url() + path, at, body, maxAttempts))
        .expect(201);
  }

  private static JsonObject body(String url, Instant at, JsonObject body, int maxAttempts) {
    return new JsonObject()
        .put("name", "a delivery")
        .put("when", new JsonObject().put("at", at.toString()))
        .put("deliver", new JsonObject().put("webhook", url).put("body", body))
        .put("maxAttempts", maxAttempts);
  }

  private static List<Received> await(String path, int count) throws Exception {
    Await.until(count + " requests to " + path, () -> receiver().received(path).size() >= count);
    return receiver().received(path);
  }

  private static JsonObject awaitJob(String id, String state) throws Exception {
    String path = "/v1/jobs/" + id;
    Await.until(
        path + " is " + state,
        () -> server.operator().get(path).expect(200).getString("state").equals(state));
    return server.operator().get(path).expect(200);
  }

  private static JsonArray jobs(RunningServer of, String query) throws Exception {
    return of.operator().get("/v1/jobs?" + query).expect(200).getJsonArray("items");
  }

  private static List<String> errors(JsonObject job) {
    return job.getJsonArray("attempts").stream()
        .map(attempt -> ((JsonObject) attempt).getString("error"))
        .collect(Collectors.toList());
  }

  private static String secret(RunningServer of, String url) throws Exception {
    return secret(of, url, "secret");
  }

  private static String secret(RunningServer of, String url, String name) throws Exception {
    return of.operator().get("/v1/webhooks/secret?url=" + url).expect(200).getString(name);
  }

  /** HMAC-SHA256 from its definition (RFC 2104), sharing nothing with what the server uses. */
  private static String hmac(String key, String text) throws Exception {
    MessageDigest sha = MessageDigest.getInstance("SHA-256");
    byte[] block = new byte[64];
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    byte[] used = bytes.length > 64 ? sha.digest(bytes) : bytes;
    System.arraycopy(used, 0, block, 0, used.length);
    byte[] inner = block.clone();
    byte[] outer = block.clone();
    for (int i = 0; i < 64; i++) {
      inner[i] ^= 0x36;
      outer[i] ^= 0x5c;
    }
    sha.update(inner);
    byte[] first = sha.digest(text.getBytes(StandardCharsets.UTF_8));
    sha.update(outer);
    return HexFormat.of().formatHex(sha.digest(first));
  }
}
