package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.EnqueueResult.Created;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.NewJob;
import dev.lockstep.server.Client.Reply;
import dev.lockstep.server.WebhookReceiver.Answer;
import dev.lockstep.tx.Transactor;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs and queues over HTTP: found, counted, brought back, cancelled, paused. */
@Timeout(120)
class JobsApiTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  /** A queue that no node serves: what is put there stays as it is. */
  private static final String QUEUE = "letters";

  @BeforeEach
  void empty() {
    server
        .database()
        .execute(
            """
            TRUNCATE lockstep.job, lockstep.job_dead, lockstep.job_attempt, lockstep.job_history,
              lockstep.job_queue, lockstep.job_schedule, lockstep_server.queue_pause""");
  }

  @Test
  void jobsAreFoundByQueueStateKindAndText() throws Exception {
    Instant later = Instant.now().plus(Duration.ofDays(1));
    String ready = enqueue(NewJob.of(QUEUE, "a", "{\"to\":\"ann\"}"));
    String scheduled = enqueue(NewJob.of(QUEUE, "b", "{\"to\":\"bob\"}").at(later));
    String elsewhere = enqueue(NewJob.of("parcels", "a", "{\"to\":\"ann\"}"));
    bury(enqueue(NewJob.of(QUEUE, "dead", "{\"to\":\"eve\"}")));

    assertThat(ids("queue=letters")).hasSize(3).contains(ready, scheduled);
    assertThat(ids("queue=letters&state=ready")).containsExactly(ready);
    assertThat(ids("state=scheduled&kind=b")).containsExactly(scheduled);
    assertThat(ids("kind=a")).containsExactly(elsewhere, ready);
    assertThat(ids("text=bob")).containsExactly(scheduled);
    assertThat(ids("text=eve&state=dead")).hasSize(1);
    assertThat(ids("text=eve&state=ready")).isEmpty();
    assertThat(ids("state=running")).isEmpty();
    assertThat(ids("queue=nowhere")).isEmpty();
    for (String bad :
        List.of(
            "state=lost", "state=", "limit=0", "after=x", "text=", "queue=" + "q".repeat(201))) {
      server.operator().get("/v1/jobs?" + bad).expectProblem(400, "invalid-request");
    }
  }

  @Test
  void jobsOfAllStatesArePagedNewestFirst() throws Exception {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      String id = enqueue(NewJob.of(QUEUE, "a", "{}"));
      if (i % 2 == 0) {
        bury(id);
      }
      all.add(0, id);
    }
    List<String> paged = new ArrayList<>();
    String next = "";
    do {
      JsonObject page = server.operator().get("/v1/jobs?queue=letters&limit=2" + next).expect(200);
      page.getJsonArray("items").forEach(item -> paged.add(((JsonObject) item).getString("id")));
      next = page.getString("next") == null ? null : "&after=" + page.getString("next");
    } while (next != null);
    assertThat(paged).isEqualTo(all);
    assertThat(ids("queue=letters&limit=1000")).isEqualTo(all);
  }

  @Test
  void aJobIsShownWithWhatItCarriesAndCancelledByItsVersion() throws Exception {
    String id = enqueue(NewJob.of(QUEUE, "a", "[1, \"two\"]").withMaxAttempts(4));
    String path = "/v1/jobs/" + id;

    Reply shown = server.operator().get(path);
    JsonObject job = shown.expect(200);
    assertThat(shown.header("ETag")).hasValue("\"1\"");
    assertThat(job.getValue("payload")).isEqualTo(new JsonArray("[1, \"two\"]"));
    assertThat(job.getInteger("maxAttempts")).isEqualTo(4);
    assertThat(job.getJsonArray("attempts")).isEmpty();

    JsonObject stale =
        server
            .operator()
            .send("POST", path + "/cancel", null, Map.of("If-Match", "\"7\""))
            .expectProblem(412, "version-mismatch");
    assertThat(stale.getInteger("currentVersion")).isEqualTo(1);
    assertThat(server.operator().post(path + "/cancel", null).expect(200).getString("state"))
        .isEqualTo("cancelled");
    server.operator().get(path).expectProblem(404, "not-found");
    server.operator().post(path + "/cancel", null).expectProblem(404, "not-found");
    server.operator().post("/v1/jobs/nonsense/retry", null).expectProblem(404, "not-found");
  }

  @Test
  void aJobThatIsNotDueRunsEarlyWhenItIsRetried() throws Exception {
    String id = enqueue(NewJob.of(QUEUE, "a", "{}").at(Instant.now().plus(Duration.ofDays(1))));
    JsonObject now = server.operator().post("/v1/jobs/" + id + "/retry", null).expect(200);
    assertThat(now.getString("state")).isEqualTo("ready");
    assertThat(now.getInteger("version")).isEqualTo(2);
  }

  @Test
  void aDeadJobThatIsRetriedKeepsItsAttempts() throws Exception {
    String one = enqueue(NewJob.of(QUEUE, "a", "{}"));
    String another = enqueue(NewJob.of(QUEUE, "b", "{}"));
    for (String id : List.of(one, another)) {
      bury(id);
      server
          .database()
          .execute(
              """
              INSERT INTO lockstep.job_attempt (shard, id, attempt, at, error)
              SELECT shard, id, n, now(), 'error ' || n
              FROM lockstep.job_dead, generate_series(1, 3) n WHERE id = '%s'"""
                  .formatted(id));
    }

    JsonObject retried = server.operator().post("/v1/jobs/" + one + "/retry", null).expect(200);
    JsonObject some = new JsonObject().put("filter", filter("kind", "b")).put("expected", 1);
    assertThat(bulk("retry", some).expect(200).getInteger("changed")).isEqualTo(1);

    assertThat(retried.getString("state")).isEqualTo("ready");
    assertThat(retried.getInteger("failedAttempts")).as("it has all of them before it").isZero();
    assertThat(numbers(retried)).containsExactly(1, 2, 3);
    assertThat(numbers(server.operator().get("/v1/jobs/" + another).expect(200)))
        .containsExactly(1, 2, 3);
  }

  private static List<Integer> numbers(JsonObject job) {
    return job.getJsonArray("attempts").stream()
        .map(one -> ((JsonObject) one).getInteger("attempt"))
        .toList();
  }

  @Test
  void aDeliveryThatIsRetriedShowsEveryAttemptUntilItIsDone() throws Exception {
    try (WebhookReceiver receiver = new WebhookReceiver()) {
      receiver.answering(one -> Answer.of(receiver.received().size() < 2 ? 500 : 200));
      server
          .operator()
          .post(
              "/v1/schedules",
              new JsonObject()
                  .put("name", "s")
                  .put("when", new JsonObject().put("at", Instant.now().toString()))
                  .put("maxAttempts", 1)
                  .put("deliver", new JsonObject().put("webhook", receiver.url())))
          .expect(201);
      for (int failed = 1; failed <= 2; failed++) {
        int expected = failed;
        Await.until("it is dead", () -> ids("state=dead").size() == 1);
        JsonObject dead = server.operator().get("/v1/jobs/" + ids("state=dead").get(0)).expect(200);
        assertThat(numbers(dead)).hasSize(expected);
        server.operator().post("/v1/jobs/" + dead.getString("id") + "/retry", null).expect(200);
      }
      Await.until("it is done", () -> ids("state=done&queue=webhooks").size() == 1);
      JsonObject done =
          server.operator().get("/v1/jobs/" + ids("state=done&queue=webhooks").get(0)).expect(200);
      assertThat(numbers(done)).containsExactly(1, 2, 3);
      assertThat(done.getJsonArray("attempts").getJsonObject(2).getValue("error")).isNull();
    }
  }

  @Test
  void manyAreBroughtBackOrCancelledOnlyWhenTheyAreAsManyAsWasCounted() throws Exception {
    for (int i = 0; i < 3; i++) {
      bury(enqueue(NewJob.of(QUEUE, "a", "{\"n\":\"of many\"}")));
    }
    bury(enqueue(NewJob.of(QUEUE, "a", "{}")));
    enqueue(NewJob.of(QUEUE, "b", "{}"));

    JsonObject many = new JsonObject().put("filter", filter("text", "of many"));
    assertThat(bulk("retry", many.copy().put("dryRun", true)).expect(200))
        .isEqualTo(new JsonObject().put("matched", 3).put("changed", 0));
    JsonObject other =
        bulk("retry", many.copy().put("expected", 2)).expectProblem(409, "count-changed");
    assertThat(other.getInteger("matched")).isEqualTo(3);
    assertThat(ids("state=dead")).hasSize(4);
    assertThat(bulk("retry", many.copy().put("expected", 3)).expect(200).getInteger("changed"))
        .isEqualTo(3);
    assertThat(ids("state=ready&kind=a")).hasSize(3);

    JsonObject dead = new JsonObject().put("filter", filter("queue", QUEUE).put("state", "dead"));
    assertThat(bulk("cancel", dead.copy().put("expected", 1)).expect(200).getInteger("changed"))
        .isEqualTo(1);
    JsonObject all = new JsonObject().put("filter", filter("queue", QUEUE));
    assertThat(bulk("cancel", all.copy().put("dryRun", true)).expect(200).getInteger("matched"))
        .isEqualTo(4);
    assertThat(bulk("cancel", all.copy().put("expected", 4)).expect(200).getInteger("changed"))
        .isEqualTo(4);
    assertThat(ids("queue=letters")).isEmpty();

    for (JsonObject bad :
        List.of(
            all,
            all.copy().put("expected", 1).put("dryRun", true),
            all.copy().put("expected", -1),
            new JsonObject().put("dryRun", true),
            dead.copy().put("filter", filter("state", "done")).put("dryRun", true))) {
      assertThat(bulk("cancel", bad).status()).as(bad.encode()).isEqualTo(400);
    }
  }

  @Test
  void jobsThatCameAfterTheyWereCountedAreNotCancelled() throws Exception {
    enqueue(NewJob.of(QUEUE, "a", "{}"));
    JsonObject one = new JsonObject().put("filter", filter("queue", QUEUE)).put("expected", 1);
    try (Connection late = server.database().connection();
        Statement statement = late.createStatement()) {
      late.setAutoCommit(false);
      // Others may read and count, but not delete.
      statement.execute("LOCK TABLE lockstep.job IN SHARE MODE");
      FutureTask<Reply> cancels = new FutureTask<>(() -> bulk("cancel", one));
      new Thread(cancels, "cancels").start();
      Await.until(
          "it waits to delete",
          () ->
              server
                      .database()
                      .queryLong(
                          "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                              + " AND wait_event_type = 'Lock' AND query LIKE '%DELETE%job%'")
                  > 0);
      Transactor transactor = new Transactor(server.database().dataSource());
      Jobs jobs = new Jobs(transactor);
      transactor.join(late, c -> jobs.enqueue(c, NewJob.of(QUEUE, "a", "{}")));
      late.commit();

      cancels.get(60, TimeUnit.SECONDS).expectProblem(409, "count-changed");
    }
    assertThat(ids("queue=letters")).hasSize(2);
  }

  @Test
  void theTickOfAScheduleIsNotCancelledBehindItsBack() throws Exception {
    JsonObject schedule =
        new JsonObject()
            .put("name", "s")
            .put("when", new JsonObject().put("cron", "0 9 * * *").put("zone", "UTC"))
            .put("deliver", new JsonObject().put("webhook", "https://example.com/"));
    server.operator().post("/v1/schedules", schedule).expect(201);
    String tick = ids("queue=lockstep-schedules").get(0);

    server
        .operator()
        .post("/v1/jobs/" + tick + "/cancel", null)
        .expectProblem(409, "job-of-schedule");
    JsonObject everything = new JsonObject().put("filter", new JsonObject()).put("dryRun", true);
    assertThat(bulk("cancel", everything).expect(200).getInteger("matched")).isZero();
    bulk("cancel", everything.copy().put("dryRun", false).put("expected", 0)).expect(200);
    assertThat(ids("queue=lockstep-schedules")).containsExactly(tick);
  }

  @Test
  void queuesAreCountedPausedLimitedAndResumed() throws Exception {
    enqueue(NewJob.of(QUEUE, "a", "{}"));
    enqueue(NewJob.of(QUEUE, "a", "{}").at(Instant.now().plus(Duration.ofDays(1))));
    bury(enqueue(NewJob.of(QUEUE, "a", "{}")));

    JsonObject letters = queue(QUEUE);
    assertThat(letters.getInteger("ready")).isEqualTo(1);
    assertThat(letters.getInteger("scheduled")).isEqualTo(1);
    assertThat(letters.getInteger("dead")).isEqualTo(1);
    assertThat(Instant.parse(letters.getString("oldestDueAt"))).isBefore(Instant.now());
    assertThat(queue("webhooks").getInteger("ready")).as("also empty ones are shown").isZero();

    JsonObject paused =
        server
            .operator()
            .post("/v1/queues/letters/pause", new JsonObject().put("reason", "no stamps"))
            .expect(200);
    assertThat(paused.getBoolean("paused")).isTrue();
    assertThat(paused.getString("pauseReason")).isEqualTo("no stamps");
    assertThat(paused.getString("pausedBy")).isEqualTo("operator:configured");
    assertThat(paused).isEqualTo(queue(QUEUE));
    JsonObject limited = limit(100).expect(200);
    assertThat(limited.getInteger("ratePerSecond")).isEqualTo(100);
    assertThat(limit(null).expect(200).getInteger("ratePerSecond")).isNull();
    assertThat(limit(0).status()).isEqualTo(400);
    JsonObject resumed = server.operator().post("/v1/queues/letters/resume", null).expect(200);
    assertThat(resumed.getBoolean("paused")).isFalse();
    assertThat(resumed.getString("pauseReason")).isNull();
    for (String action : List.of("pause", "resume")) {
      server.operator().post("/v1/queues/misspelt/" + action, null).expectProblem(404, "not-found");
    }
  }

  @Test
  void aPausedQueueDeliversNothingUntilItIsResumed() throws Exception {
    try (WebhookReceiver receiver = new WebhookReceiver()) {
      receiver.answering(one -> Answer.of(200));
      server.operator().post("/v1/queues/webhooks/pause", null).expect(200);
      server
          .operator()
          .post(
              "/v1/schedules",
              new JsonObject()
                  .put("name", "s")
                  .put("when", new JsonObject().put("at", Instant.now().toString()))
                  .put("deliver", new JsonObject().put("webhook", receiver.url())))
          .expect(201);
      Await.until("it waits", () -> queue("webhooks").getInteger("ready") == 1);
      assertThat(receiver.received()).isEmpty();

      server.operator().post("/v1/queues/webhooks/resume", null).expect(200);

      Await.until("it is delivered", () -> receiver.received().size() == 1);
      Await.until("it is counted", () -> queue("webhooks").getInteger("doneLastMinute") == 1);
      assertThat(ids("state=done&queue=webhooks")).hasSize(1);
    }
  }

  private static String enqueue(NewJob job) {
    Transactor transactor = new Transactor(server.database().dataSource());
    return ((Created) transactor.call(c -> new Jobs(transactor).enqueue(c, job))).id().toString();
  }

  /** As a worker leaves what will not run again. */
  private static void bury(String id) {
    server
        .database()
        .execute(
            """
            WITH gone AS (DELETE FROM lockstep.job WHERE id = '%s' RETURNING *)
            INSERT INTO lockstep.job_dead (shard, id, queue, priority, due, kind, payload,
              max_attempts, attempts, crashes, reason, died_at, version)
            SELECT shard, id, queue, priority, due, kind, payload, max_attempts, 1, 0, 'enough',
              now(), version FROM gone"""
                .formatted(id));
  }

  private static List<String> ids(String query) throws Exception {
    return server.operator().get("/v1/jobs?" + query).expect(200).getJsonArray("items").stream()
        .map(item -> ((JsonObject) item).getString("id"))
        .toList();
  }

  private static JsonObject queue(String name) throws Exception {
    return server.operator().get("/v1/queues").expect(200).getJsonArray("items").stream()
        .map(item -> (JsonObject) item)
        .filter(item -> item.getString("name").equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static JsonObject filter(String name, String value) {
    return new JsonObject().put(name, value);
  }

  private static Reply bulk(String action, JsonObject body) throws Exception {
    return server.operator().post("/v1/jobs/" + action, body);
  }

  private static Reply limit(@Nullable Integer perSecond) throws Exception {
    return server
        .operator()
        .post("/v1/queues/letters/limit", new JsonObject().put("perSecond", perSecond));
  }
}
