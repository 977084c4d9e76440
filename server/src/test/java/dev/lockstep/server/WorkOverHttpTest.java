package dev.lockstep.server;

import static dev.lockstep.server.Workbench.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs claimed and ended over HTTP. */
@Timeout(180)
class WorkOverHttpTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final String QUEUE = "parcels";

  private Workbench bench;

  @BeforeEach
  void empty() throws Exception {
    server
        .database()
        .execute(
            """
            DELETE FROM lockstep.job WHERE queue <> 'upkeep';
            DELETE FROM lockstep.job_unique WHERE queue <> 'upkeep';
            TRUNCATE lockstep.job_dead, lockstep.job_attempt, lockstep.job_history, lockstep.job_queue,
              lockstep.job_claim, lockstep.job_claim_queue, lockstep_server.queue_pause\
            """);
    bench = new Workbench(server.service(), QUEUE);
  }

  @Test
  void aJobIsEnqueuedClaimedAndCompleted() throws Exception {
    String id = bench.enqueue(job(new JsonObject().put("to", "Ann"))).get(0);
    JsonObject claim = bench.claimOne();
    JsonObject job = claim.getJsonObject("job");
    assertThat(job.getString("id")).isEqualTo(id);
    assertThat(job.getString("kind")).isEqualTo("pack");
    assertThat(job.getJsonObject("payload").getString("to")).isEqualTo("Ann");
    assertThat(job.getInteger("attempt")).isEqualTo(1);
    assertThat(Instant.parse(job.getString("due"))).isBefore(Instant.now().plusSeconds(60));
    assertThat(state(id)).isEqualTo("running");
    assertThat(bench.claim(5)).isEmpty();

    JsonObject done = bench.complete(claim).expect(200);
    assertThat(done.getJsonObject("job").getString("state")).isEqualTo("done");
    assertThat(state(id)).isEqualTo("done");

    // Said again: the same answer. Said otherwise: the claim is over.
    Reply again = bench.complete(claim);
    assertThat(again.expect(200)).isEqualTo(done);
    assertThat(again.replayed()).isTrue();
    for (String how : List.of("retry", "dead")) {
      lost(bench.end(claim, how, new JsonObject().put("error", "no")));
    }
    lost(bench.end(claim, "heartbeat", new JsonObject()));
  }

  @Test
  void eventsAndFurtherJobsAreWrittenWithTheCompletionOrNothingIs() throws Exception {
    define("parcels-log");
    bench.enqueue(job(1));
    JsonObject claim = bench.claimOne();
    JsonObject good = event("parcels-log", "p1");
    for (JsonObject bad :
        List.of(
            event("nowhere", "p1"),
            event("sales", "p1"),
            event("parcels-log", "a\nb"),
            event("parcels-log", "p1").put("more", 1),
            new JsonObject().put("stream", "parcels-log"))) {
      Reply refused = bench.end(claim, "complete", completion(List.of(good, bad), List.of(job(2))));
      assertThat(refused.status()).as(refused.response().body()).isBetween(400, 499);
    }
    for (JsonObject bad :
        List.of(
            job(2).put("queue", "upkeep"),
            job(2).put("queue", " "),
            job(2).put("priority", "high").put("lane", "x"),
            job(2).put("at", "0001-01-01T00:00:00Z"),
            job("x".repeat(300_000)))) {
      Reply refused = bench.end(claim, "complete", completion(List.of(good), List.of(job(2), bad)));
      assertThat(refused.status()).as(refused.response().body()).isBetween(400, 499);
    }
    assertThat(events("parcels-log", "p1")).isZero();
    assertThat(jobs()).isEqualTo(1);

    JsonObject done =
        bench
            .end(
                claim,
                "complete",
                completion(List.of(good, good), List.of(job(2), job(3).put("queue", "bills"))))
            .expect(200);
    assertThat(Workbench.objects(done.getJsonArray("events")).map(e -> e.getInteger("seq")))
        .containsExactly(1, 2);
    assertThat(done.getJsonArray("jobs")).hasSize(2);
    assertThat(events("parcels-log", "p1")).isEqualTo(2);
    assertThat(Workbench.payload(bench.claimOne())).isEqualTo(2);
    assertThat(new Workbench(bench.client(), "bills").claim(9)).hasSize(1);
  }

  @Test
  void whoeverIsLateWritesNothing() throws Exception {
    define("late-log");
    bench.enqueue(job(1));
    JsonObject late = bench.claimOne();
    expireLeases();
    JsonObject effects = completion(List.of(event("late-log", "k")), List.of(job(2)));
    lost(bench.end(late, "complete", effects));
    JsonObject second = bench.claimOne();
    assertThat(second.getJsonObject("job").getInteger("attempt")).isEqualTo(2);
    lost(bench.end(late, "complete", effects));
    lost(bench.end(late, "heartbeat", new JsonObject()));
    lost(bench.end(late, "retry", new JsonObject().put("error", "x")));
    lost(bench.end(late, "dead", new JsonObject().put("error", "x")));
    assertThat(events("late-log", "k")).isZero();
    assertThat(jobs()).isEqualTo(1);
    bench.end(second, "complete", effects).expect(200);
    assertThat(events("late-log", "k")).isEqualTo(1);
  }

  @Test
  void aTokenIsWorthNothingToOthersAndGarbageIsWorthNothing() throws Exception {
    bench.enqueue(job(1));
    JsonObject claim = bench.claimOne();
    String token = claim.getString("token");
    Workbench other = new Workbench(server.service(), QUEUE);
    lost(other.complete(claim));
    for (String garbage :
        List.of("x", "999999", token + "A", token.substring(1), "%00", "%F0%9F%98%80", "..%2f")) {
      Reply reply = bench.client().post("/v1/claims/" + garbage + "/complete", null);
      assertThat(reply.status()).as(garbage).isBetween(400, 499);
    }
    // As if the last of it had been guessed.
    String guessed = (token.startsWith("A") ? "B" : "A") + token.substring(1);
    lost(bench.client().post("/v1/claims/" + guessed + "/complete", null));
    bench.complete(claim).expect(200);
  }

  @Test
  void ofTwoCompletionsThatRaceOneIsWrittenAndBothAreToldSo() throws Exception {
    define("race-log");
    for (int i = 1; i <= 5; i++) {
      bench.enqueue(job(i));
      JsonObject claim = bench.claimOne();
      JsonObject body = completion(List.of(event("race-log", "k")), List.of());
      List<Integer> statuses =
          Race.<Integer>of(3)
              .run(caller -> bench.end(claim, "complete", body).status())
              .valuesOrThrow();
      assertThat(statuses).containsOnly(200);
      assertThat(events("race-log", "k")).isEqualTo(i);
    }
  }

  @Test
  void retriesCountAndTheLastOneIsADeadLetter() throws Exception {
    String id = bench.enqueue(job(1).put("maxAttempts", 2)).get(0);
    JsonObject body = new JsonObject().put("error", "no stamps").put("delaySeconds", 0);
    JsonObject claim = bench.claimOne();
    JsonObject first = bench.end(claim, "retry", body).expect(200);
    assertThat(first.getJsonObject("job").getString("state")).isEqualTo("scheduled");
    assertThat(bench.end(claim, "retry", body).expect(200)).isEqualTo(first);
    assertThat(detail(id).getInteger("failedAttempts")).isEqualTo(1);

    JsonObject last = bench.end(bench.claimOne(), "retry", body).expect(200);
    assertThat(last.getJsonObject("job").getString("state")).isEqualTo("dead");
    assertThat(detail(id).getString("reason")).isEqualTo("no stamps");
    assertThat(detail(id).getJsonArray("attempts")).hasSize(2);

    server.operator().post("/v1/jobs/" + id + "/retry", null).expect(200);
    bench.end(bench.claimOne(), "dead", new JsonObject().put("error", "never")).expect(200);
    assertThat(detail(id).getString("reason")).isEqualTo("never");
    // By the backoff: later.
    bench.enqueue(job(2));
    bench.end(bench.claimOne(), "retry", new JsonObject().put("error", "later")).expect(200);
    assertThat(bench.claim(1)).isEmpty();
  }

  @Test
  void whatIsNeverAnsweredShowsAsDeadThoughNobodyClaims() throws Exception {
    String id = bench.enqueue(job(1).put("maxAttempts", 1)).get(0);
    bench.claimOne();
    expireLeases();
    Await.until("the claim is counted", () -> state(id).equals("dead"));
  }

  @Test
  void aHeartbeatExtendsTheLease() throws Exception {
    bench.enqueue(job(1));
    JsonObject claim = bench.claim(1, 30, 0).get(0);
    String until =
        bench
            .end(claim, "heartbeat", new JsonObject().put("leaseSeconds", 3_000))
            .expect(200)
            .getString("expiresAt");
    assertThat(Instant.parse(until))
        .isAfter(Instant.parse(claim.getString("expiresAt")).plusSeconds(2_000));
    bench.client().post("/v1/claims/" + claim.getString("token") + "/heartbeat", null).expect(200);
  }

  @Test
  void aLaneIsDoneInOrderOneAtATimeAndAPausedQueueNotAtAll() throws Exception {
    for (int i = 0; i < 4; i++) {
      bench.enqueue(job(i).put("lane", "ann"));
    }
    List<Object> order = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      List<JsonObject> claims = bench.claim(10);
      assertThat(claims).hasSize(1);
      order.add(Workbench.payload(claims.get(0)));
      bench.complete(claims.get(0)).expect(200);
    }
    assertThat(order).containsExactly(0, 1, 2, 3);

    bench.enqueue(job(1));
    server.operator().post("/v1/queues/" + QUEUE + "/pause", null).expect(200);
    assertThat(bench.claim(1)).isEmpty();
    server.operator().post("/v1/queues/" + QUEUE + "/resume", null).expect(200);
    assertThat(bench.claim(1)).hasSize(1);
  }

  private static void lost(Reply reply) {
    reply.expectProblem(409, "claim-lost");
  }

  private static void define(String stream) throws Exception {
    server
        .operator()
        .put("/v1/streams/" + stream, new JsonObject().put("sinks", new JsonArray()))
        .expect(200);
  }

  private static JsonObject event(String stream, String key) {
    return new JsonObject()
        .put("stream", stream)
        .put("key", key)
        .put("type", "packed")
        .put("data", new JsonObject().put("n", 1));
  }

  private static JsonObject completion(List<JsonObject> events, List<JsonObject> jobs) {
    return new JsonObject().put("events", new JsonArray(events)).put("jobs", new JsonArray(jobs));
  }

  private static long events(String stream, String key) throws Exception {
    return server
        .operator()
        .get("/v1/streams/" + stream + "/events?key=" + key)
        .expect(200)
        .getJsonArray("items")
        .size();
  }

  private static long jobs() {
    return server.database().queryLong("SELECT count(*) FROM lockstep.job WHERE queue <> 'upkeep'");
  }

  private static JsonObject detail(String id) throws Exception {
    return server.operator().get("/v1/jobs/" + id).expect(200);
  }

  private static String state(String id) throws Exception {
    return detail(id).getString("state");
  }

  private static void expireLeases() {
    server
        .database()
        .execute("UPDATE lockstep.job_claim SET expires_at = now() - interval '1 second'");
  }
}
