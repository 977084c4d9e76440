package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A database that is there and does not take writes. */
@Timeout(120)
class OutOfServiceTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @AfterEach
  void wellAgain() throws Exception {
    server.database().execute("DROP TRIGGER IF EXISTS full_disk ON lockstep.hold");
    setReadOnly(false);
    Await.until("it is ready", () -> server.anyone().get("/readyz").status() == 200);
  }

  @Test
  void aReadOnlyDatabaseIsNotReadyAndIsNamed() throws Exception {
    setReadOnly(true);

    Await.until(
        "the metric says so",
        () ->
            server
                .anyone()
                .get("/metrics")
                .response()
                .body()
                .contains("lockstep_database_trouble{reason=\"database-read-only\"} 1.0"));
    server.anyone().get("/readyz").expectProblem(503, "not-ready");
    assertThat(server.anyone().get("/status").response().body())
        .contains("The database takes no writes");
  }

  @Test
  void aRequestThatWaitsForADatabaseInTroubleIsAnsweredForIt() throws Exception {
    String id = server.drop(10, null);
    try (var holder = server.database().connection();
        var statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      statement.execute("SELECT 1 FROM lockstep.pool WHERE scope = " + id + " FOR UPDATE");
      CompletableFuture<Client.Reply> waiting =
          CompletableFuture.supplyAsync(() -> hold(id, "waits"));
      setReadOnly(true);

      Client.Reply answer = waiting.get();
      assertThat(answer.header("Retry-After")).isPresent();
      assertThat(answer.expectProblem(503, "unavailable").getString("reason"))
          .isEqualTo("database-read-only");
    }
  }

  /** Whoever watches over the server asks just then. */
  @Test
  void soIsWhoeverReadsTheMetricsWithAKeyOfTheDatabase() throws Exception {
    JsonObject operator = new JsonObject().put("role", "operator").put("name", "watcher");
    String key = server.operator().post("/v1/keys", operator).expect(201).getString("key");
    Client watcher = new Client(server.url(), Optional.of(key));
    try (var holder = server.database().connection();
        var statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      statement.execute("LOCK TABLE lockstep_server.api_key IN ACCESS EXCLUSIVE MODE");
      CompletableFuture<Client.Reply> waiting =
          CompletableFuture.supplyAsync(() -> fromAfar(watcher, "/metrics"));
      setReadOnly(true);

      assertThat(waiting.get().expectProblem(503, "unavailable").getString("reason"))
          .isEqualTo("database-read-only");
    }
  }

  private static Client.Reply fromAfar(Client client, String path) {
    try {
      return client.send("GET", path, null, Map.of("X-Forwarded-For", "203.0.113.1"));
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aFullDiskIsNamedInTheAnswerAndIsNotReady() throws Exception {
    String id = server.drop(10, null);
    server
        .database()
        .execute(
            """
            CREATE OR REPLACE FUNCTION public.full_disk() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END$$
            """);
    server
        .database()
        .execute(
            "CREATE TRIGGER full_disk BEFORE INSERT ON lockstep.hold"
                + " FOR EACH STATEMENT EXECUTE FUNCTION public.full_disk()");

    Client.Reply answer = hold(id, "full");

    assertThat(answer.header("Retry-After")).isPresent();
    assertThat(answer.expectProblem(503, "unavailable").getString("reason")).isEqualTo("disk-full");
    server.anyone().get("/readyz").expectProblem(503, "not-ready");
  }

  private static Client.Reply hold(String campaign, String key) {
    try {
      return server
          .service()
          .post("/v1/campaigns/" + campaign + "/holds", key, cart("a", sku("A", 1)));
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** For sessions that begin now; those that there are go on, but for the one that watches. */
  private static void setReadOnly(boolean readOnly) throws Exception {
    server
        .database()
        .execute(
            "DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = "
                + readOnly
                + "', current_database()); END$$");
    server
        .database()
        .execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                + " WHERE datname = current_database() AND query LIKE '%flyway_schema_history%'"
                + " AND pid <> pg_backend_pid()");
  }
}
