package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The lab over HTTP. What scenarios do is tested with the lab itself. */
@Timeout(120)
class LabApiTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final String RUNS = "/v1/lab/scenarios/last-unit/runs";

  /** What the lab takes while it makes a database: a test that holds it holds the lab. */
  private static final String LOCK = "pg_advisory_lock(5499206914273538387)";

  /** One runs and so many wait. */
  private static final int LET_IN = 17;

  @Test
  void anyoneReadsTheCatalogue() throws Exception {
    JsonObject catalogue = server.anyone().get("/v1/lab/scenarios").expect(200);
    assertThat(catalogue.getBoolean("enabled")).isTrue();
    JsonArray items = catalogue.getJsonArray("items");
    assertThat(items.size()).isGreaterThan(25);
    assertThat(items.getJsonObject(0).getString("id")).isEqualTo("last-unit");
    assertThat(items.getJsonObject(0).getString("question")).endsWith("?");
  }

  @Test
  void aRunIsATimelineAndAVerdict() throws Exception {
    JsonObject run = server.anyone().post(RUNS, null).expect(200);
    assertThat(run.getString("isolation")).isEqualTo("read-committed");
    assertThat(run.getString("variant")).isEqualTo("naive");
    assertThat(run.getString("postgres")).startsWith("18.");
    assertThat(run.getJsonArray("sessions")).isEqualTo(new JsonArray().add("Ann").add("Bob"));
    JsonObject write = run.getJsonArray("steps").getJsonObject(6);
    assertThat(write.getString("session")).isEqualTo("Bob");
    assertThat(write.getJsonArray("blockedBy")).isEqualTo(new JsonArray().add("Ann"));
    assertThat(write.getLong("blockedUs"))
        .isBetween(write.getLong("startedUs"), write.getLong("finishedUs"));
    assertThat(write.getString("outcome")).isEqualTo("changed");
    JsonObject verdict = run.getJsonObject("verdict");
    assertThat(verdict.getBoolean("anomaly")).isTrue();
    assertThat(verdict.getString("outcome")).isEqualTo("happened");
  }

  @ParameterizedTest
  @CsvSource({
    "read-committed, naive, happens",
    "READ COMMITTED, lockstep, 'prevented, waits'",
    "repeatable-read, naive, 'prevented, 40001'",
    "repeatableRead, lockstep, 'prevented, 40001'",
    "serializable, naive, 'prevented, 40001'",
    "read uncommitted, naive, happens"
  })
  void theLevelMayBeSpelledInAnyWay(String isolation, String variant, String brief)
      throws Exception {
    JsonObject run = server.operator().post(RUNS, asked(isolation, variant)).expect(200);
    assertThat(run.getJsonObject("verdict").getString("brief")).isEqualTo(brief);
  }

  @Test
  void whatIsNotInTheCatalogueIsNotPlayed() throws Exception {
    Client anyone = server.anyone();
    anyone.post("/v1/lab/scenarios/drop-table/runs", null).expectProblem(404, "not-found");
    JsonObject wrong =
        anyone.post(RUNS, asked("chaos", "naive")).expectProblem(400, "invalid-request");
    assertThat(wrong.getString("field")).isEqualTo("isolation");
    anyone.post(RUNS, asked("serializable", "clever")).expectProblem(400, "invalid-request");
    anyone.post(RUNS, new JsonObject().put("sql", "SELECT 1")).expectProblem(400, "unknown-field");
  }

  @Test
  void anotherSiteCannotMakeABrowserPlay() throws Exception {
    server
        .anyone()
        .send("POST", RUNS, null, Map.of("Sec-Fetch-Site", "cross-site"))
        .expectProblem(403, "forbidden");
  }

  @Test
  void whereVisitorsAreOffAKeyIsAskedFor() throws Exception {
    try (Server other = server.startWithoutVisitors()) {
      new Client(other.url(), Optional.empty()).get("/v1/lab/scenarios").expect(200);
      new Client(other.url(), Optional.empty()).post(RUNS, null).expectProblem(401, "unauthorized");
      Client buyer = server.buyer("who plays");
      new Client(other.url(), buyer.key()).post(RUNS, null).expect(200);
    }
  }

  @Test
  void whereTheLabIsOffItIsReadAndNotPlayed() throws Exception {
    try (Server other = server.startWithoutLab()) {
      Client operator = new Client(other.url(), Optional.of(RunningServer.OPERATOR_KEY));
      assertThat(operator.get("/v1/lab/scenarios").expect(200).getBoolean("enabled")).isFalse();
      operator.post(RUNS, null).expectProblem(403, "lab-off");
    }
  }

  /** A lab that hangs keeps seventeen waiting; who comes then is sent away at once. */
  @Test
  void onlySoManyWait() throws Exception {
    int callers = 25;
    ExecutorService threads = Executors.newFixedThreadPool(callers);
    try (Server other = server.start(false);
        Connection holder = server.database().connection();
        Statement lock = holder.createStatement()) {
      lock.execute("SELECT " + LOCK);
      CountDownLatch refused = new CountDownLatch(callers - LET_IN);
      List<Future<Reply>> replies = new ArrayList<>();
      for (int i = 0; i < callers; i++) {
        replies.add(
            threads.submit(
                () -> {
                  Reply reply = new Client(other.url(), Optional.empty()).post(RUNS, null);
                  if (reply.status() == 503) {
                    refused.countDown();
                  }
                  return reply;
                }));
      }
      refused.await();
      lock.execute("SELECT pg_advisory_unlock_all()");
      int played = 0;
      for (Future<Reply> reply : replies) {
        if (reply.get().status() == 200) {
          played++;
        } else {
          reply.get().expectProblem(503, "overloaded");
          assertThat(reply.get().header("Retry-After")).hasValue("1");
        }
      }
      assertThat(played).isEqualTo(LET_IN);
    } finally {
      threads.shutdownNow();
    }
  }

  private static JsonObject asked(String isolation, String variant) {
    return new JsonObject().put("isolation", isolation).put("variant", variant);
  }
}
