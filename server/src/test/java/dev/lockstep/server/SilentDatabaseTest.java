package dev.lockstep.server;

import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TcpProxy;
import dev.lockstep.testkit.TestDatabase;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A database that is there, takes what it is sent, and says nothing. */
@Timeout(180)
class SilentDatabaseTest {
  private static final String KEY = "operator-key-of-a-silent-database";

  /** Three seconds are promised; the rest is for a busy machine. */
  private static final Duration PATIENCE = Duration.ofSeconds(9);

  /** A caller whose packets were lost is answered at its transaction's deadline. */
  private static final Duration PATIENCE_AFTERWARDS = Duration.ofSeconds(60);

  private static final String GONE = "database-gone";

  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  @Test
  void aStoppedDatabaseIsNamedSoonAndIsUsedAgainWhenItGoesOn(@TempDir Path folder)
      throws Exception {
    Path data = folder.resolve("data");
    try (ServerProcess server =
        ServerProcess.start(
            Map.of("LOCKSTEP_OPERATOR_KEY", KEY), "up", "--port", "0", "--data", data.toString())) {
      String url = server.awaitReady();
      String campaign = drop(url);
      buy(url, campaign, "before").expect(201);
      try (FrozenPostgres frozen = FrozenPostgres.of(data)) {
        assertThat(frozen.processes()).isGreaterThan(3);
        requireNamed(url, campaign);
      }
      requireWell(url, campaign);
      assertThat(server.terminate()).isZero();
    } finally {
      ServerProcess.stopAbandoned(data);
    }
  }

  @Test
  void aNetworkThatSwallowsEverythingIsNamedSoonAndIsUsedAgainWhenItIsBack() throws Exception {
    URI target = URI.create(database.url().substring("jdbc:".length()));
    try (TcpProxy network = TcpProxy.to(target.getHost(), target.getPort());
        ServerProcess server =
            ServerProcess.start(
                Map.of(
                    "LOCKSTEP_OPERATOR_KEY",
                    KEY,
                    "LOCKSTEP_DATABASE_URL",
                    "jdbc:postgresql://127.0.0.1:%d%s?user=%s&password=%s"
                        .formatted(
                            network.port(),
                            target.getPath(),
                            database.user(),
                            database.password())),
                "up",
                "--port",
                "0")) {
      String url = server.awaitReady();
      String campaign = drop(url);
      buy(url, campaign, "before").expect(201);
      network.swallow();

      requireNamed(url, campaign);

      network.deliver();
      requireWell(url, campaign);
    }
  }

  @Test
  void aDatabaseThatIsSlowWithTheProbeAloneIsNotGone() throws Exception {
    try (ServerProcess server =
        ServerProcess.start(
            Map.of(
                "LOCKSTEP_DATABASE_URL",
                "%s?user=%s&password=%s"
                    .formatted(database.url(), database.user(), database.password())),
            "up",
            "--port",
            "0")) {
      String url = server.awaitReady();
      try (Connection holder = database.connection();
          Statement statement = holder.createStatement()) {
        holder.setAutoCommit(false);
        statement.execute("SELECT 1 FROM lockstep_server.write_probe FOR UPDATE");
        Set<String> waits = new HashSet<>();
        Await.until(
            "several looks waited for the row, one after the other",
            () -> {
              waits.addAll(
                  database.query(
                      "SELECT pid || ' ' || query_start FROM pg_stat_activity"
                          + " WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%write_probe%'",
                      row -> row.getString(1)));
              assertThat(ServerProcess.get(url + "/readyz").statusCode()).isEqualTo(200);
              return waits.size() >= 6;
            });
        holder.rollback();
      }
    }
  }

  /** Whoever asked already, whoever asks now, probes, the page and the metric: all say the same. */
  private static void requireNamed(String url, String campaign) throws Exception {
    List<CompletableFuture<Client.Reply>> waiting = new ArrayList<>();
    waiting.add(ask(url, "GET", "/v1/campaigns", "", null));
    waiting.add(ask(url, "GET", "/v1/campaigns/" + campaign, "", null));
    waiting.add(ask(url, "GET", "/v1/keys", "", null));
    waiting.add(
        ask(
            url,
            "POST",
            "/v1/campaigns/" + campaign + "/purchases",
            "waits",
            order("ann", "pm_card_visa", sku("A", 1))));
    for (CompletableFuture<Client.Reply> one : waiting) {
      requireNamed(one.get());
    }
    for (String path : List.of("/v1/campaigns", "/v1/keys")) {
      requireNamed(ask(url, "GET", path, "", null).get());
    }
    ask(url, "GET", "/readyz", "", null).get().expectProblem(503, "not-ready");
    assertThat(ServerProcess.get(url + "/status").body()).contains("The database does not answer.");
    assertThat(ServerProcess.get(url + "/metrics").body())
        .contains("lockstep_database_trouble{reason=\"database-gone\"} 1.0");
  }

  private static void requireNamed(Client.Reply reply) {
    assertThat(reply.expectProblem(503, "unavailable").getString("reason")).isEqualTo(GONE);
    assertThat(reply.header("Retry-After")).isPresent();
  }

  private static void requireWell(String url, String campaign) throws Exception {
    Await.until("it is ready", () -> ServerProcess.get(url + "/readyz").statusCode() == 200);
    Await.until("somebody can buy", () -> buy(url, campaign, "after").status() == 201);
    // What waited when the database was lost was done once, or not at all; not twice.
    Client.Reply repeated =
        ask(
                PATIENCE_AFTERWARDS,
                url,
                "POST",
                "/v1/campaigns/" + campaign + "/purchases",
                "waits",
                order("ann", "pm_card_visa", sku("A", 1)))
            .get();
    repeated.expect(201);
    int sold =
        ask(url, "GET", "/v1/campaigns/" + campaign, "", null).get().expect(200).getInteger("sold");
    assertThat(sold).isEqualTo(3);
  }

  private static String drop(String url) throws Exception {
    JsonObject made =
        ask(url, "POST", "/v1/campaigns", "", RunningServer.dropOf(100)).get().expect(201);
    String id = made.getString("id");
    ask(url, "POST", "/v1/campaigns/" + id + "/publish", "", null).get().expect(200);
    return id;
  }

  private static Client.Reply buy(String url, String campaign, String buyer) throws Exception {
    return ask(
            PATIENCE_AFTERWARDS,
            url,
            "POST",
            "/v1/campaigns/" + campaign + "/purchases",
            buyer,
            order(buyer, "pm_card_visa", sku("A", 1)))
        .get();
  }

  /** Fails when there is no answer in time. */
  private static CompletableFuture<Client.Reply> ask(
      String url, String method, String path, String key, @Nullable JsonObject body) {
    return ask(PATIENCE, url, method, path, key, body);
  }

  private static CompletableFuture<Client.Reply> ask(
      Duration patience,
      String url,
      String method,
      String path,
      String key,
      @Nullable JsonObject body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path))
            .timeout(patience)
            .header("Authorization", "Bearer " + KEY)
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body.encode()));
    if (body != null) {
      request.header("Content-Type", "application/json");
    }
    if (!key.isEmpty()) {
      request.header("Idempotency-Key", key);
    }
    return HttpClient.newHttpClient()
        .sendAsync(request.build(), HttpResponse.BodyHandlers.ofString())
        .thenApply(Client.Reply::new);
  }
}
