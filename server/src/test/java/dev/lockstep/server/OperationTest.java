package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Running it: invariants, samples, the end. */
@Timeout(120)
class OperationTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @Test
  void aBrokenInvariantPausesThePoolAndIsShown() throws Exception {
    String id = server.drop(10, null);
    Client shop = server.service();
    shop.post("/v1/campaigns/" + id + "/holds", "i", cart("a", sku("A", 1))).expect(201);
    assertThat(server.operator().post("/v1/invariants/check", null).expect(200).getBoolean("ok"))
        .isTrue();

    server.database().execute("UPDATE lockstep.pool SET sold = sold + 1 WHERE scope = " + id);
    JsonObject report = server.operator().post("/v1/invariants/check", null).expect(200);

    assertThat(report.getBoolean("ok")).isFalse();
    assertThat(report.getJsonArray("violations").getJsonObject(0).getString("campaign"))
        .isEqualTo(id);
    // The check of every minute may have come in between; it finds the same.
    assertThat(server.operator().get("/v1/invariants").expect(200).getJsonArray("violations"))
        .isEqualTo(report.getJsonArray("violations"));
    shop.post("/v1/campaigns/" + id + "/holds", "j", cart("a", sku("A", 1)))
        .expectProblem(409, "campaign-paused");
    assertThat(server.anyone().get("/v1/campaigns/" + id).expect(200).getString("pauseReason"))
        .contains("invariant");
    server.database().execute("UPDATE lockstep.pool SET sold = sold - 1 WHERE scope = " + id);
  }

  @Test
  void aTotalThatNobodyAccountedForPausesThePool() throws Exception {
    String id = server.drop(10, null);
    server.database().execute("UPDATE lockstep.pool SET total = 11 WHERE scope = " + id);

    JsonObject report = server.operator().post("/v1/invariants/check", null).expect(200);

    assertThat(report.getJsonArray("violations").encode()).contains("total of 11", id);
    server
        .service()
        .post("/v1/campaigns/" + id + "/holds", "t", cart("a", sku("A", 1)))
        .expectProblem(409, "campaign-paused");
    server.database().execute("UPDATE lockstep.pool SET total = 10 WHERE scope = " + id);
    assertThat(server.operator().post("/v1/invariants/check", null).expect(200).getBoolean("ok"))
        .isTrue();
  }

  @Test
  void whatRecursIsOneJobEachHoweverManyNodes() throws Exception {
    String kinds = "SELECT kind FROM lockstep.job WHERE queue = 'upkeep' ORDER BY kind";
    try (Server other = server.start(false)) {
      assertThat(other.url()).isNotEqualTo(server.url());
      assertThat(server.database().query(kinds, row -> row.getString(1)))
          .containsExactly(
              "ended-schedules",
              "expired-claims",
              "expired-holds",
              "expired-transfers",
              "invariants",
              "old-idempotency-keys",
              "old-payment-events",
              "old-visitors",
              "provider-payments",
              "reconciliation",
              "unfinished-purchases");
    }
  }

  @Test
  void theCheckOfEveryMinuteFindsWhatIsBrokenAndEveryNodeShowsIt() throws Exception {
    String id = server.drop(10, null);
    server.database().execute("UPDATE lockstep.pool SET sold = sold + 1 WHERE scope = " + id);
    // Its minute is over.
    server.database().execute("UPDATE lockstep.job SET due = now() WHERE kind = 'invariants'");
    try (Server other = server.start(false)) {
      Client there = new Client(other.url(), Optional.of(RunningServer.OPERATOR_KEY));
      for (Client node : List.of(server.operator(), there)) {
        Await.until(
            "the report names the campaign",
            () -> node.get("/v1/invariants").expect(200).encode().contains("\"" + id + "\""));
      }
    }
    assertThat(server.anyone().get("/v1/campaigns/" + id).expect(200).getString("pauseReason"))
        .contains("invariant");
    server.database().execute("UPDATE lockstep.pool SET sold = sold - 1 WHERE scope = " + id);
  }

  @Test
  void samplesAreMadeOnlyWhereThereHasNeverBeenACampaign() throws Exception {
    server.drop(1, null);
    long before = server.database().queryLong("SELECT count(*) FROM lockstep_server.campaign");
    try (Server other = server.start(true)) {
      assertThat(other.firstOperatorKey()).isEmpty();
      assertThat(server.database().queryLong("SELECT count(*) FROM lockstep_server.campaign"))
          .isEqualTo(before);
    }
  }

  @Test
  void aStopFinishesWhatIsInFlightAndRefusesWhatIsNew() throws Exception {
    String id = server.drop(10, null);
    Server other = server.start(false);
    Client client = new Client(other.url(), Optional.of(RunningServer.OPERATOR_KEY));
    client.get("/v1/campaigns/" + id).expect(200);
    try (Connection holder = server.database().connection();
        Statement statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      // Whoever takes a hold now waits for this lock.
      statement.execute("SELECT 1 FROM lockstep.pool WHERE scope = " + id + " FOR UPDATE");
      CompletableFuture<Client.Reply> inFlight =
          CompletableFuture.supplyAsync(() -> hold(client, id));
      awaitLockWait();
      CompletableFuture<Void> closed = CompletableFuture.runAsync(other::close);
      int status = 200;
      while (status == 200) {
        status = client.get("/v1/campaigns/" + id).status();
      }
      assertThat(status).isEqualTo(503);
      client.get("/v1/campaigns/" + id).expectProblem(503, "shutting-down");
      assertThat(inFlight).isNotDone();

      holder.rollback();
      inFlight.get().expect(201);
      closed.get();
    }
  }

  @Test
  void aStopEndsTheStreamsOfWatchers() throws Exception {
    String id = server.drop(10, null);
    Server other = server.start(false);
    HttpResponse<Stream<String>> watched =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(URI.create(other.url() + "/v1/campaigns/" + id + "/live"))
                    .build(),
                HttpResponse.BodyHandlers.ofLines());
    other.close();
    // Ends by itself, and in order: a broken connection would throw here.
    assertThat(watched.body()).contains("event: stock");
  }

  @Test
  void metricsAreReadableByPrometheus() throws Exception {
    server.anyone().get("/nothing").expectProblem(404, "not-found");
    Client.Reply metrics = server.anyone().get("/metrics");
    assertThat(metrics.header("Content-Type")).hasValue("text/plain; version=0.0.4; charset=utf-8");
    assertThat(metrics.response().body())
        .containsPattern("lockstep_http_requests_total\\{status=\"4xx\"} [1-9]")
        .contains("# TYPE lockstep_database_connections_active gauge");
  }

  private static Client.Reply hold(Client client, String id) {
    try {
      return client.post("/v1/campaigns/" + id + "/holds", "flight", cart("a", sku("A", 1)));
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Until the database says that somebody waits for a lock. */
  private static void awaitLockWait() {
    while (server
            .database()
            .queryLong(
                "SELECT count(*) FROM pg_stat_activity"
                    + " WHERE datname = current_database() AND wait_event_type = 'Lock'")
        == 0) {
      Thread.onSpinWait();
    }
  }
}
