package dev.lockstep.server;

import static dev.lockstep.server.Workbench.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs enqueued over HTTP, one or many. */
@Timeout(180)
class EnqueueOverHttpTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final String QUEUE = "parcels";
  private static final String PATH = "/v1/queues/" + QUEUE + "/jobs";

  private Workbench bench;

  @BeforeEach
  void empty() throws Exception {
    server
        .database()
        .execute(
            """
            DELETE FROM lockstep.job WHERE queue <> 'upkeep';
            DELETE FROM lockstep.job_unique WHERE queue <> 'upkeep';
            TRUNCATE lockstep.job_claim\
            """);
    bench = new Workbench(server.service(), QUEUE);
  }

  @Test
  void timePriorityAndLaneDecideWhoComesFirst() throws Exception {
    Instant later = Instant.now().plusSeconds(3_600);
    bench.enqueue(
        job("later").put("at", later.toString()),
        job("low").put("priority", "low"),
        job("lane 1").put("lane", "x"),
        job("lane 2").put("lane", "x"),
        job("high").put("priority", "high"));
    List<Object> first = bench.claim(9).stream().map(Workbench::payload).toList();
    assertThat(first).containsExactly("high", "lane 1", "low");
    server.database().execute("UPDATE lockstep.job SET due = now() WHERE due > now()");
    assertThat(bench.claim(9).stream().map(Workbench::payload)).containsExactly("later");
  }

  @Test
  void aBatchIsWrittenWholeOrNotAtAll() throws Exception {
    JsonObject[] most = Collections.nCopies(1_000, job(1)).toArray(JsonObject[]::new);
    assertThat(bench.enqueue(most)).hasSize(1_000).doesNotHaveDuplicates();
    String more = new JsonArray(Collections.nCopies(1_001, job(1))).encode();
    for (String bad : List.of(more, "[]", "[1]", "{}", "null", "")) {
      Reply reply = bench.client().send("POST", PATH, bad, Map.of());
      assertThat(reply.status()).as(reply.response().body()).isEqualTo(400);
    }
    assertThat(jobs()).isEqualTo(1_000);
    // The same key twice in one batch: the second names the first.
    JsonObject unique = job(2).put("unique", "once");
    List<String> ids = bench.enqueue(unique, unique);
    assertThat(ids.get(0)).isEqualTo(ids.get(1));
    assertThat(jobs()).isEqualTo(1_001);
  }

  @Test
  void enqueueingIsIdempotentAndAUniqueKeyNamesItsJob() throws Exception {
    JsonObject unique = job(1).put("unique", "ann");
    Reply first = bench.client().post(PATH, "k1", unique);
    String id = first.expect(201).getJsonArray("jobs").getJsonObject(0).getString("id");
    Reply replayed = bench.client().post(PATH, "k1", unique);
    assertThat(replayed.expect(201)).isEqualTo(first.json());
    assertThat(replayed.replayed()).isTrue();
    bench.client().post(PATH, "k1", job(2)).expectProblem(422, "idempotency-key-reused");

    JsonObject twin =
        bench.client().post(PATH, unique).expect(201).getJsonArray("jobs").getJsonObject(0);
    assertThat(twin.getString("id")).isEqualTo(id);
    assertThat(twin.getBoolean("duplicate")).isTrue();
    assertThat(jobs()).isEqualTo(1);
    bench.complete(bench.claimOne()).expect(200);
    assertThat(bench.enqueue(unique).get(0)).isNotEqualTo(id);
  }

  @Test
  void badInputIsRefusedAndNothingIsWritten() throws Exception {
    String path = "/v1/queues/" + QUEUE;
    for (JsonObject bad :
        List.of(
            new JsonObject(),
            job(1).put("kind", ""),
            job(1).put("kind", "x".repeat(201)),
            job(1).put("at", "tomorrow"),
            job(1).put("at", "9999-12-31T23:59:59Z"),
            job(1).put("priority", "urgent"),
            job(1).put("priority", "low").put("lane", "x"),
            job(1).put("maxAttempts", 0),
            job(1).put("maxAttempts", 1_001),
            job(1).put("unique", 5),
            job(1).put("more", true),
            job("x".repeat(263_000)))) {
      Reply reply = bench.client().post(path + "/jobs", bad);
      assertThat(reply.status()).as(reply.response().body()).isEqualTo(400);
      String both = new JsonArray().add(job(1)).add(bad).encode();
      assertThat(bench.client().send("POST", path + "/jobs", both, Map.of()).status())
          .isEqualTo(400);
    }
    for (String half : List.of("kind", "lane", "unique", "payload")) {
      String body = job(1).put(half, "HALF").encode().replace("HALF", "\\ud800");
      bench
          .client()
          .send("POST", path + "/jobs", body, Map.of())
          .expectProblem(400, "unstorable-text");
    }
    for (JsonObject bad :
        List.of(
            new JsonObject().put("max", 0),
            new JsonObject().put("max", 101),
            new JsonObject().put("leaseSeconds", 0),
            new JsonObject().put("leaseSeconds", 3_601),
            new JsonObject().put("waitSeconds", 61),
            new JsonObject().put("waitSeconds", -1))) {
      bench.client().post(path + "/claims", bad).expectProblem(400, "invalid-request");
    }
    bench
        .client()
        .post(path + "/claims", new JsonObject().put("wait", 1))
        .expectProblem(400, "unknown-field");
    for (String reserved : List.of("upkeep", "webhooks", "lockstep-schedules")) {
      Workbench there = new Workbench(bench.client(), reserved);
      there
          .client()
          .post("/v1/queues/" + reserved + "/claims", null)
          .expectProblem(409, "queue-reserved");
      there
          .client()
          .post("/v1/queues/" + reserved + "/jobs", job(1))
          .expectProblem(409, "queue-reserved");
    }
    for (String name : List.of("%20", "%00", "x".repeat(201))) {
      assertThat(bench.client().post("/v1/queues/" + name + "/claims", null).status())
          .as(name)
          .isEqualTo(400);
    }
    assertThat(jobs()).isZero();
  }

  private static long jobs() {
    return server.database().queryLong("SELECT count(*) FROM lockstep.job WHERE queue <> 'upkeep'");
  }
}
