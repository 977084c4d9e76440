package dev.lockstep.cli;

import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.gateway.TestGateway;
import dev.lockstep.server.Await;
import dev.lockstep.server.Client;
import dev.lockstep.server.Client.Reply;
import dev.lockstep.server.RunningServer;
import dev.lockstep.testkit.TestDatabase;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A server killed in the middle of purchases: after a restart money and goods agree. The provider
 * is a company of its own here, with its own database, and outlives the server.
 */
@Timeout(180)
class PurchaseCrashTest {
  private static final String KEY = "operator-key-of-a-server-that-dies";

  @RegisterExtension static final TestDatabase database = TestDatabase.empty();
  @RegisterExtension static final TestDatabase bank = TestDatabase.empty();

  @Test
  void aServerKilledBeforeOrAfterPaymentsSettlesThemWhenItIsBack() throws Exception {
    TestGateway.migrate(bank);
    try (TestGateway provider = TestGateway.start(bank)) {
      String campaign;
      String hasty;
      List<CompletableFuture<Reply>> cut = new ArrayList<>();
      try (ServerProcess server = start(provider)) {
        Client shop = new Client(server.awaitReady(), Optional.of(KEY));
        campaign = published(shop, 900);
        hasty = published(shop, 1);
        // One has been charged, and its answer is on its way for ever.
        provider.gateway().setFaults(GatewayFaults.NONE.withAnswers(Answers.never(1)));
        cut.add(buy(shop, campaign, "paid"));
        awaitCount(bank, "gateway.intent WHERE status = 3", 1);
        // Others have not reached the provider's books, and one of them never may.
        provider.gateway().setFaults(GatewayFaults.NONE.withLatency(Duration.ofMinutes(1)));
        cut.add(buy(shop, campaign, "unpaid"));
        cut.add(buy(shop, hasty, "too late"));
        awaitCount(database, "lockstep_server.purchase", 3);
        server.kill();
      }
      for (CompletableFuture<Reply> reply : cut) {
        assertThat(reply).failsWithin(Duration.ofSeconds(30));
      }
      awaitCount(database, "lockstep_server.purchase WHERE deadline < now()", 1);
      provider.gateway().setFaults(GatewayFaults.NONE);

      try (ServerProcess server = start(provider)) {
        Client shop = new Client(server.awaitReady(), Optional.of(KEY));
        awaitCount(database, "lockstep_server.purchase WHERE status = 2", 2);
        awaitCount(database, "lockstep_server.purchase WHERE status = 4", 1);

        assertThat(bank.queryLong("SELECT count(*) FROM gateway.intent WHERE status = 3"))
            .isEqualTo(2);
        JsonObject stock = shop.get("/v1/campaigns/" + campaign).expect(200);
        assertThat(stock.getInteger("sold")).isEqualTo(2);
        assertThat(stock.getInteger("held")).isZero();
        assertThat(shop.get("/v1/campaigns/" + hasty).expect(200).getInteger("free")).isEqualTo(5);
        buy(shop, hasty, "too late").get().expectProblem(402, "payment-failed");
        assertThat(shop.get("/v1/reconciliation").expect(200).getBoolean("ok")).isTrue();
        assertThat(shop.post("/v1/invariants/check", null).expect(200).getBoolean("ok")).isTrue();
        for (String key : new String[] {"paid", "unpaid"}) {
          Reply again = buy(shop, campaign, key).get();
          assertThat(again.expect(201).getString("status")).isEqualTo("completed");
          assertThat(again.replayed()).isTrue();
        }
        assertThat(server.terminate()).isZero();
      }
    }
  }

  private static ServerProcess start(TestGateway provider) throws Exception {
    return ServerProcess.upOn(
        "%s?user=%s&password=%s".formatted(database.url(), database.user(), database.password()),
        KEY,
        Map.of(
            "LOCKSTEP_STRIPE_KEY",
            TestGateway.KEY,
            "LOCKSTEP_STRIPE_API_BASE",
            provider.url().toString()));
  }

  private static String published(Client operator, int holdSeconds) throws Exception {
    JsonObject drop = RunningServer.dropOf(5).put("holdSeconds", holdSeconds);
    return operator.publish(drop);
  }

  private static CompletableFuture<Reply> buy(Client shop, String campaign, String key) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return shop.post(
                "/v1/campaigns/" + campaign + "/purchases",
                key,
                order("buyer of " + key, "pm_card_visa", sku("A", 1)));
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
  }

  private static void awaitCount(TestDatabase where, String from, long wanted) throws Exception {
    String count = "SELECT count(*) FROM " + from;
    Await.until(wanted + " of " + from, () -> where.queryLong(count) >= wanted);
  }
}
