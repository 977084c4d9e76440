package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.server.config.ServerConfig;
import dev.lockstep.server.lifecycle.CannotStart;
import dev.lockstep.server.setting.Sources;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Settings are found again where they act: in the database and in answers. */
@Timeout(120)
class SettingsActTest {
  @RegisterExtension
  static final RunningServer server =
      new RunningServer()
          .with("LOCKSTEP_POOL_SIZE", "23")
          .with("LOCKSTEP_STATEMENT_TIMEOUT", "9s")
          .with("LOCKSTEP_LOCK_TIMEOUT", "4s")
          .with("LOCKSTEP_IDLE_TIMEOUT", "3700ms")
          .with("LOCKSTEP_HOLD_LIFETIME", "7m")
          .with("LOCKSTEP_HOLD_EXTENSIONS", "3")
          .with("LOCKSTEP_HOLD_MAX", "10m")
          .with("LOCKSTEP_HOLD_MAX_IN_ALL", "20m")
          .with("LOCKSTEP_RETENTION_ANSWERS", "5h")
          .with("LOCKSTEP_OUTBOX_PARTITIONS", "8")
          .with("LOCKSTEP_JOB_SHARDS", "9")
          .with("LOCKSTEP_CLAIM_MAX_JOBS", "3")
          .with("LOCKSTEP_CLAIM_LEASE", "40s")
          .with("LOCKSTEP_CLAIM_MAX_LEASE", "50s")
          .with("LOCKSTEP_HTTP_ANSWER_TIMEOUT", "6m")
          .with("LOCKSTEP_CLAIM_MAX_WAIT", "5m")
          .with("LOCKSTEP_CLAIM_MAX_WAITING", "1");

  /** Notes the time-outs of the transaction that writes a row. */
  private static void noteTimeoutsOf(String table, String name) {
    server
        .database()
        .execute(
            """
            CREATE TABLE IF NOT EXISTS public.noted (name text, timeouts text);
            CREATE FUNCTION note_%1$s() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              INSERT INTO public.noted VALUES ('%1$s', concat_ws(' ', current_setting('statement_timeout'),
                current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')));
              RETURN NULL;
            END $$;
            CREATE TRIGGER note AFTER INSERT ON %2$s EXECUTE FUNCTION note_%1$s()"""
                .formatted(name, table));
  }

  @Test
  void claimersGetAsMuchAsIsSet() throws Exception {
    Workbench bench = new Workbench(server.service(), "parcels");
    String path = "/v1/queues/parcels/claims";
    bench.client().post(path, new JsonObject().put("max", 4)).expectProblem(400, "invalid-request");
    for (String field : List.of("leaseSeconds", "waitSeconds")) {
      int tooMuch = field.equals("leaseSeconds") ? 51 : 301;
      bench
          .client()
          .post(path, new JsonObject().put(field, tooMuch))
          .expectProblem(400, "invalid-request");
    }
    CompletableFuture<List<JsonObject>> waiting =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return bench.claim(3, 50, 300);
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    Await.until(
        "somebody waits",
        () ->
            server
                    .database()
                    .queryLong(
                        "SELECT count(*) FROM lockstep.job_claim_queue WHERE queue = 'parcels'")
                == 1);
    bench.client().post(path, null).expectProblem(503, "overloaded");
    bench.enqueue(Workbench.job(1));
    assertThat(waiting.get()).hasSize(1);
    bench.enqueue(Workbench.job(2));
    bench.client().post(path, null).expect(200);
    assertThat(server.database().queryLong("SELECT min(lease_ms) FROM lockstep.job_claim"))
        .isEqualTo(40_000);
  }

  @Test
  void thePoolIsAsLargeAsItIsSet() throws Exception {
    assertThat(server.operator().get("/v1/database").expect(200).encode()).contains("23");
  }

  @Test
  void transactionsAndBatchesHaveTheTimeoutsThatAreSet() throws Exception {
    noteTimeoutsOf("lockstep_server.campaign", "campaign");
    noteTimeoutsOf("lockstep.hold", "hold");
    String campaign = server.drop(5, null);
    server
        .service()
        .post("/v1/campaigns/" + campaign + "/holds", "k", cart("alice", sku("A", 1)))
        .expect(201);
    List<String> noted =
        server
            .database()
            .query("SELECT name || ' ' || timeouts FROM public.noted", row -> row.getString(1));
    assertThat(noted).contains("campaign 9s 4s 3700ms", "hold 9s 4s 3700ms");
  }

  @Test
  void aCampaignThatDoesNotSayHasTheLifetimeThatIsSet() throws Exception {
    JsonObject made = server.operator().post("/v1/campaigns", RunningServer.dropOf(1)).expect(201);
    assertThat(made.getInteger("holdSeconds")).isEqualTo(420);
    assertThat(made.getInteger("maxExtensions")).isEqualTo(3);
    assertThat(made.getInteger("maxHoldSeconds")).isEqualTo(1_200);
    JsonObject edge = RunningServer.dropOf(1).put("holdSeconds", 600).put("maxHoldSeconds", 1_200);
    server.operator().post("/v1/campaigns", edge).expect(201);
    server
        .operator()
        .post("/v1/campaigns", edge.copy().put("holdSeconds", 601))
        .expectProblem(400, "invalid-request");
    server
        .operator()
        .post("/v1/campaigns", edge.copy().put("maxHoldSeconds", 1_201))
        .expectProblem(400, "invalid-request");
  }

  @Test
  void answersAreKeptAsLongAsIsSet() throws Exception {
    String campaign = server.drop(5, null);
    server
        .service()
        .post("/v1/campaigns/" + campaign + "/holds", "kept", cart("bob", sku("A", 1)))
        .expect(201);
    assertThat(
            server
                .database()
                .query(
                    "SELECT expires_at - created_at FROM lockstep.once WHERE key = 'kept'",
                    row -> row.getString(1)))
        .containsExactly("05:00:00");
  }

  @Test
  void partitionsAndShardsAreMadeAsSetAndAnotherNumberIsRefusedWithBoth() {
    assertThat(count("SELECT partitions FROM lockstep.outbox_layout")).isEqualTo(8);
    assertThat(count("SELECT shards FROM lockstep.shard_group WHERE shard_group = 'job'"))
        .isEqualTo(9);
    assertRefused("LOCKSTEP_OUTBOX_PARTITIONS", "16", "8 partitions", "configured for 16");
    assertRefused("LOCKSTEP_JOB_SHARDS", "32", "9 shards", "set to 32");
  }

  private static int count(String sql) {
    return server.database().query(sql, row -> row.getInt(1)).get(0);
  }

  private static void assertRefused(String variable, String value, String... parts) {
    Map<String, String> environment =
        new HashMap<>(
            Map.of(
                "LOCKSTEP_PORT", "0",
                "LOCKSTEP_OPERATOR_KEY", RunningServer.OPERATOR_KEY,
                "LOCKSTEP_DATABASE_URL",
                    server.database().url()
                        + "?user="
                        + server.database().user()
                        + "&password="
                        + server.database().password(),
                "LOCKSTEP_OUTBOX_PARTITIONS", "8",
                "LOCKSTEP_JOB_SHARDS", "9"));
    environment.put(variable, value);
    ServerConfig config = ServerConfig.of(Sources.of(Map.of(), environment));
    assertThatThrownBy(() -> Server.start(config, System::nanoTime).close())
        .isInstanceOf(CannotStart.class)
        .hasMessageContainingAll(parts);
  }
}
