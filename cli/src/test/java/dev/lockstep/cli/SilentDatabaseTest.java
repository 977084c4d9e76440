package dev.lockstep.cli;

import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Await;
import dev.lockstep.server.Client;
import dev.lockstep.server.RunningServer;
import dev.lockstep.testkit.TcpProxy;
import dev.lockstep.testkit.TestDatabase;
import java.net.URI;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
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
      Client operator = new Client(server.awaitReady(), Optional.of(KEY));
      String campaign = operator.publish(RunningServer.dropOf(100));
      buy(operator, campaign, "before").expect(201);
      try (FrozenPostgres frozen = FrozenPostgres.of(data)) {
        assertThat(frozen.processes()).isGreaterThan(3);
        requireNamed(operator, campaign);
      }
      requireWell(operator, campaign);
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
      Client operator = new Client(server.awaitReady(), Optional.of(KEY));
      String campaign = operator.publish(RunningServer.dropOf(100));
      buy(operator, campaign, "before").expect(201);
      network.swallow();

      requireNamed(operator, campaign);

      network.deliver();
      requireWell(operator, campaign);
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
  private static void requireNamed(Client operator, String campaign) throws Exception {
    List<CompletableFuture<Client.Reply>> waiting =
        List.of(
            get(operator, "/v1/campaigns"),
            get(operator, "/v1/campaigns/" + campaign),
            get(operator, "/v1/keys"),
            buy(PATIENCE, operator, campaign, "ann", "waits"));
    for (CompletableFuture<Client.Reply> one : waiting) {
      requireNamed(one.get());
    }
    for (String path : List.of("/v1/campaigns", "/v1/keys")) {
      requireNamed(get(operator, path).get());
    }
    get(operator, "/readyz").get().expectProblem(503, "not-ready");
    String url = operator.url();
    assertThat(ServerProcess.get(url + "/status").body()).contains("The database does not answer.");
    assertThat(ServerProcess.get(url + "/metrics").body())
        .contains("lockstep_database_trouble{reason=\"database-gone\"} 1.0");
  }

  private static void requireNamed(Client.Reply reply) {
    assertThat(reply.expectProblem(503, "unavailable").getString("reason")).isEqualTo(GONE);
    assertThat(reply.header("Retry-After")).isPresent();
  }

  private static void requireWell(Client operator, String campaign) throws Exception {
    Await.until("it is ready", () -> operator.get("/readyz").status() == 200);
    Await.until("somebody can buy", () -> buy(operator, campaign, "after").status() == 201);
    // What waited when the database was lost was done once, or not at all; not twice.
    buy(PATIENCE_AFTERWARDS, operator, campaign, "ann", "waits").get().expect(201);
    int sold = operator.get("/v1/campaigns/" + campaign).expect(200).getInteger("sold");
    assertThat(sold).isEqualTo(3);
  }

  private static Client.Reply buy(Client operator, String campaign, String buyer) throws Exception {
    return buy(PATIENCE_AFTERWARDS, operator, campaign, buyer, buyer).get();
  }

  private static CompletableFuture<Client.Reply> buy(
      Duration patience, Client operator, String campaign, String buyer, String idempotencyKey) {
    return operator.begin(
        patience,
        "POST",
        "/v1/campaigns/" + campaign + "/purchases",
        idempotencyKey,
        order(buyer, "pm_card_visa", sku("A", 1)));
  }

  private static CompletableFuture<Client.Reply> get(Client operator, String path) {
    return operator.begin(PATIENCE, "GET", path, "", null);
  }
}
