package dev.lockstep.server;

import static dev.lockstep.server.Workbench.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A hundred claimers on two nodes, some of which die and some of which are late. */
@Timeout(240)
class WorkByManyTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final String QUEUE = "parcels";
  private static final String STREAM = "packed";
  private static final int CLAIMERS = 100;
  private static final int JOBS = 400;
  private static final int LANES = 10;

  private final AtomicInteger done = new AtomicInteger();
  private final AtomicInteger claimed = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicBoolean failed = new AtomicBoolean();
  // Claims whose holder sleeps; it wakes when the lease has passed, and says that it is done.
  private final Queue<JsonObject> sleeping = new ConcurrentLinkedQueue<>();

  @Test
  void eachJobIsDoneOnceAndEachLaneInOrder() throws Exception {
    server
        .operator()
        .put("/v1/streams/" + STREAM, new JsonObject().put("sinks", new JsonArray()))
        .expect(200);
    Client here = server.service();
    new Workbench(here, QUEUE).enqueue(jobs());
    try (Server second = server.start(false)) {
      Client there = new Client(second.url(), here.key());
      Race.<Boolean>of(CLAIMERS)
          .within(Duration.ofSeconds(200))
          .run(
              caller -> {
                try {
                  work(new Workbench(caller % 2 == 0 ? here : there, QUEUE));
                } catch (Throwable e) {
                  failed.set(true);
                  throw e;
                }
                return true;
              })
          .valuesOrThrow();
    }
    assertThat(refused.get()).as("late ones that were refused").isPositive();
    Map<String, List<Integer>> lanes = new HashMap<>();
    List<Integer> all = new ArrayList<>();
    server
        .database()
        .query(
            """
            SELECT key, type FROM lockstep.outbox_event WHERE key = 'none' OR key LIKE 'lane%'
            ORDER BY key, seq\
            """,
            row -> {
              int number = Integer.parseInt(row.getString(2));
              all.add(number);
              lanes.computeIfAbsent(row.getString(1), key -> new ArrayList<>()).add(number);
              return number;
            });
    assertThat(all).as("effects").hasSize(JOBS).doesNotHaveDuplicates();
    assertThat(lanes).hasSize(LANES + 1);
    lanes.remove("none");
    assertThat(lanes.values()).allSatisfy(lane -> assertThat(lane).isSorted());
    assertThat(server.database().queryLong("SELECT count(*) FROM lockstep.job_claim")).isZero();
    assertThat(server.database().queryLong("SELECT count(*) FROM lockstep.job_dead")).isZero();
  }

  private static JsonObject[] jobs() {
    JsonObject[] jobs = new JsonObject[JOBS];
    for (int i = 0; i < JOBS; i++) {
      jobs[i] = job(i).put("maxAttempts", 1_000);
      if (i % 2 == 0) {
        jobs[i].put("lane", "lane" + i / 2 % LANES);
      }
    }
    return jobs;
  }

  private void work(Workbench bench) throws Exception {
    while (done.get() < JOBS && !failed.get()) {
      List<JsonObject> claims = bench.claim(5, Workbench.LONG_SECONDS, 1);
      for (JsonObject claim : claims) {
        int number = claimed.incrementAndGet();
        if (number % 10 == 3) {
          // Killed: nothing more is heard of it.
          pass(claim);
        } else if (number % 10 == 7) {
          pass(claim);
          sleeping.add(claim);
        } else {
          assertThat(complete(bench, claim)).isEqualTo(200);
          done.incrementAndGet();
        }
      }
      Optional<JsonObject> late = Optional.ofNullable(sleeping.poll());
      if (late.isPresent()) {
        assertThat(complete(bench, late.get())).isEqualTo(409);
        refused.incrementAndGet();
      }
    }
  }

  /** Its lease passes. */
  private static void pass(JsonObject claim) {
    server
        .database()
        .execute(
            "UPDATE lockstep.job_claim SET expires_at = now() - interval '1 second' WHERE id = '"
                + claim.getJsonObject("job").getString("id")
                + "'");
  }

  private static int complete(Workbench bench, JsonObject claim) throws Exception {
    JsonObject job = claim.getJsonObject("job");
    JsonObject event =
        new JsonObject()
            .put("stream", STREAM)
            .put("key", Optional.ofNullable(job.getString("lane")).orElse("none"))
            .put("type", String.valueOf(job.getValue("payload")))
            .put("data", new JsonObject());
    JsonObject body = new JsonObject().put("events", new JsonArray().add(event));
    return bench.end(claim, "complete", body).status();
  }
}
