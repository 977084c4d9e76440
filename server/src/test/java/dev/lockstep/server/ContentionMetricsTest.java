package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.server.WebhookReceiver.Answer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Conflicts, late results, slow reads and lock waits, each brought about for real and counted. */
@Timeout(180)
class ContentionMetricsTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final String EDITS =
      "lockstep_versioned_edits_total{operation=\"PATCH /v1/schedules/:id\",outcome=\"%s\"}";
  private static final String RESULTS = "lockstep_results_total{block=\"%s\",outcome=\"%s\"}";

  private final CountDownLatch go = new CountDownLatch(1);

  @Test
  void ofTwoEditsForOneVersionOneIsAConflict() throws Exception {
    String path = schedule("http://127.0.0.1:1/", Instant.now().plusSeconds(86_400));
    double accepted = figures().of(EDITS.formatted("accepted"));
    double conflict = figures().of(EDITS.formatted("conflict"));

    rename(path, "one").expect(200);
    rename(path, "other").expectProblem(412, "version-mismatch");

    Await.until("one counts", () -> figures().of(EDITS.formatted("accepted")) == accepted + 1);
    Await.until("one does not", () -> figures().of(EDITS.formatted("conflict")) == conflict + 1);

    double all = figures().sum("lockstep_versioned_edits_total");
    double answered = figures().sum("lockstep_http_requests_total");
    server.operator().delete(path).expect(200);
    Await.until(
        "the answer is counted",
        () -> figures().sum("lockstep_http_requests_total") > answered + 1);
    // It named no version.
    assertThat(figures().sum("lockstep_versioned_edits_total")).isEqualTo(all);
  }

  @Test
  void theReportOfAClaimerWhoseLeaseHasPassedIsStale() throws Exception {
    Workbench bench = new Workbench(server.service(), "late-parcels");
    double accepted = figures().of(RESULTS.formatted("claim", "accepted"));
    double stale = figures().of(RESULTS.formatted("claim", "stale"));
    double transactions =
        figures()
            .of(
                "lockstep_database_transaction_duration_seconds_count{outcome=\"committed\","
                    + "transaction=\"job claims\"}");
    double reads = figures().of("lockstep_jobs_read_duration_seconds_count{reader=\"claim\"}");
    double rows = figures().of("lockstep_jobs_read_rows_sum{reader=\"claim\"}");
    bench.enqueue(Workbench.job(1));

    JsonObject late = bench.claimOne();
    server.database().execute("UPDATE lockstep.job_claim SET expires_at = now()");
    bench.complete(late).expectProblem(409, "claim-lost");
    JsonObject intime = bench.claimOne();
    bench.complete(intime).expect(200);
    // Said again, it is the same report.
    assertThat(bench.complete(intime).replayed()).isTrue();

    assertThat(figures().of(RESULTS.formatted("claim", "stale"))).isEqualTo(stale + 1);
    assertThat(figures().of(RESULTS.formatted("claim", "accepted"))).isEqualTo(accepted + 1);
    assertThat(
            figures()
                .of(
                    "lockstep_database_transaction_duration_seconds_count{outcome=\"committed\","
                        + "transaction=\"job claims\"}"))
        .isGreaterThanOrEqualTo(transactions + 2);
    assertThat(figures().of("lockstep_jobs_read_duration_seconds_count{reader=\"claim\"}"))
        .isGreaterThanOrEqualTo(reads + 2);
    assertThat(figures().of("lockstep_jobs_read_rows_sum{reader=\"claim\"}"))
        .isGreaterThanOrEqualTo(rows + 2);
  }

  @Test
  void theResultOfAJobThatIsCancelledWhileItRunsIsStale() throws Exception {
    double stale = figures().of(RESULTS.formatted("job", "stale"));
    double accepted = figures().of(RESULTS.formatted("job", "accepted"));
    try (WebhookReceiver receiver = new WebhookReceiver().answering(one -> held())) {
      schedule(receiver.url() + "/held", Instant.now().plusSeconds(1));
      Await.until("it is being delivered", () -> receiver.underWay() == 1);
      String id =
          server
              .operator()
              .get("/v1/jobs?queue=webhooks")
              .expect(200)
              .getJsonArray("items")
              .getJsonObject(0)
              .getString("id");
      server.operator().post("/v1/jobs/" + id + "/cancel", new JsonObject()).expect(200);
      go.countDown();

      Await.until("it is stale", () -> figures().of(RESULTS.formatted("job", "stale")) > stale);
    }
    // Those of upkeep are not.
    Await.until(
        "others are accepted", () -> figures().of(RESULTS.formatted("job", "accepted")) > accepted);
  }

  @Test
  void aCursorThatSomebodyHasMovedMeanwhileIsStale() throws Exception {
    double stale = figures().of(RESULTS.formatted("relay", "stale"));
    double accepted = figures().of(RESULTS.formatted("relay", "accepted"));
    try (WebhookReceiver receiver = new WebhookReceiver().answering(one -> held())) {
      define("moved", receiver.url());
      append("moved", "a");
      Await.until("it is on its way", () -> receiver.underWay() == 1);
      // As an operator's replay does.
      server.database().execute("UPDATE lockstep.outbox_cursor SET version = version + 1");
      go.countDown();

      Await.until("it is stale", () -> figures().of(RESULTS.formatted("relay", "stale")) > stale);
      Await.until(
          "the next is accepted",
          () -> figures().of(RESULTS.formatted("relay", "accepted")) > accepted);
      server.operator().put("/v1/streams/moved", sinks()).expect(200);
    }
  }

  @Test
  void whatASinkTakesAndWhatItRefusesIsCountedUntilItIsGone() throws Exception {
    String series =
        "lockstep_stream_deliveries_total{outcome=\"%s\",sink=\"a\",stream=\"counted\"}";
    CountDownLatch refused = new CountDownLatch(2);
    try (WebhookReceiver receiver =
        new WebhookReceiver()
            .answering(
                one -> {
                  refused.countDown();
                  return Answer.of(refused.getCount() > 0 ? 500 : 200);
                })) {
      define("counted", receiver.url());
      append("counted", "k");
      Await.until("one has failed", () -> figures().of(series.formatted("failed")) >= 1);
      Await.until("it came", () -> figures().of(series.formatted("delivered")) >= 1);
    }
    server.operator().put("/v1/streams/counted", sinks()).expect(200);
    Await.until("it is not shown any more", () -> !figures().has(series.formatted("delivered")));
  }

  @Test
  void aSlowReadOfDueJobsLiesAboveTheBoundOfItsAlert() throws Exception {
    String read = "lockstep_jobs_read_duration_seconds";
    double before = figures().above("0.2", read, "reader=\"worker\"");
    locked(
        "LOCK TABLE lockstep.job IN ACCESS EXCLUSIVE MODE", () -> waiting("%after_due%", "300 ms"));
    Await.until("it is seen", () -> figures().above("0.2", read, "reader=\"worker\"") > before);
    assertThat(figures().of("lockstep_jobs_read_rows_count{reader=\"worker\"}")).isPositive();
  }

  @Test
  void aWaitForALockLiesAboveTheBoundOfItsAlert() throws Exception {
    String wait = "lockstep_lock_wait_time_seconds";
    double before = figures().above("0.1", wait, "combiner=\"holds\"");
    String id = server.drop(1, null);
    CompletableFuture<Reply> holding = new CompletableFuture<>();
    locked(
        "SELECT 1 FROM lockstep.pool WHERE scope = " + id + " FOR UPDATE",
        () -> {
          holding.completeAsync(() -> hold(id));
          waiting("%lockstep.pool%", "200 ms");
        });
    holding.get().expect(201);
    Await.until("it is seen", () -> figures().above("0.1", wait, "combiner=\"holds\"") > before);
  }

  @Test
  void aWaitForALockThatIsGivenUpCountsForItsTransaction() throws Exception {
    String givenUp = "lockstep_lock_timeout_errors_total{transaction=\"holds\"}";
    assertThat(figures().has(givenUp)).isTrue();
    double before = figures().of(givenUp);
    String id = server.drop(1, null);
    locked(
        "SELECT 1 FROM lockstep.pool WHERE scope = " + id + " FOR UPDATE",
        () -> {
          var unused = CompletableFuture.supplyAsync(() -> hold(id));
          Await.until("it is given up", () -> figures().of(givenUp) > before);
        });
  }

  /** What is done while a lock is held. */
  private interface Step {
    void run() throws Exception;
  }

  private static void locked(String sql, Step step) throws Exception {
    try (Connection holder = server.database().connection();
        Statement statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      statement.execute(sql);
      step.run();
      holder.rollback();
    }
  }

  /** Returns when such a statement has waited for a lock so long, by the database's clock. */
  private static void waiting(String like, String howLong) throws Exception {
    Await.until(
        like + " waits",
        () ->
            server
                    .database()
                    .queryLong(
                        """
                        SELECT count(*) FROM pg_stat_activity
                        WHERE datname = current_database() AND wait_event_type = 'Lock'
                          AND query LIKE ? AND query_start < now() - ?::interval\
                        """,
                        like,
                        howLong)
                > 0);
  }

  private Answer held() {
    try {
      assertThat(go.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return Answer.of(200);
  }

  private static Reply hold(String campaign) {
    try {
      return server
          .service()
          .post("/v1/campaigns/" + campaign + "/holds", "h" + campaign, cart("a", sku("A", 1)));
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static Figures figures() {
    return new Figures(server.anyone());
  }

  private static String schedule(String webhook, Instant at) throws Exception {
    return "/v1/schedules/"
        + server
            .operator()
            .post(
                "/v1/schedules",
                new JsonObject()
                    .put("name", "a")
                    .put("when", new JsonObject().put("at", at.toString()))
                    .put("deliver", new JsonObject().put("webhook", webhook)))
            .expect(201)
            .getString("id");
  }

  private static Reply rename(String path, String name) throws Exception {
    String body = new JsonObject().put("name", name).encode();
    return server.operator().send("PATCH", path, body, Map.of("If-Match", "\"1\""));
  }

  private static JsonObject sinks(JsonObject... some) {
    return new JsonObject().put("sinks", new JsonArray(List.of(some)));
  }

  private static void define(String stream, String url) throws Exception {
    JsonObject sink = new JsonObject().put("name", "a").put("type", "webhook").put("url", url);
    server.operator().put("/v1/streams/" + stream, sinks(sink)).expect(200);
  }

  private static void append(String stream, String key) throws Exception {
    server
        .operator()
        .post("/v1/streams/" + stream + "/events", StreamStage.event(key, "t", new JsonObject()))
        .expect(201);
  }
}
