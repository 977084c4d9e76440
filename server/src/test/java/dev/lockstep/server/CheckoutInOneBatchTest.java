package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A cart and its checkout in one batch: once it is being paid for, it stays as it is. */
@Timeout(120)
class CheckoutInOneBatchTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  private static final JsonObject CARD =
      new JsonObject().put("paymentMethod", "pm_card_authenticationRequired");
  private static final JsonObject FIVE =
      new JsonObject().put("items", cart("", sku("A", 5)).getJsonArray("items"));

  @ParameterizedTest
  @ValueSource(strings = {"release", "change", "extend"})
  void whatComesAfterTheCheckoutOfTheSameCartIsRefused(String what) throws Exception {
    String campaign = server.drop(20, null);
    Client buyer = server.buyer("alice");
    String path = "/v1/holds/" + hold(buyer, campaign, "cart");
    // The guard has the first word in the batch, about another cart.
    String other = "/v1/holds/" + hold(buyer, campaign, "other");

    List<CompletableFuture<Reply>> replies =
        inOneBatch(
            campaign,
            List.of(
                () -> buyer.delete(other),
                () -> buyer.post(path + "/checkout", "c", CARD),
                () ->
                    switch (what) {
                      case "release" -> buyer.delete(path);
                      case "change" -> buyer.put(path, FIVE);
                      default -> buyer.post(path + "/extend", null);
                    }));

    replies.get(0).get().expect(200);
    replies.get(1).get().expect(202);
    replies.get(2).get().expectProblem(409, "hold-in-checkout");
    JsonObject hold = buyer.get(path).expect(200);
    assertThat(hold.getString("state")).isEqualTo("held");
    assertThat(hold.getJsonArray("items").getJsonObject(0).getInteger("quantity")).isEqualTo(1);
  }

  @Test
  void aCartThatIsReleasedFirstIsNotPaidFor() throws Exception {
    String campaign = server.drop(20, null);
    Client buyer = server.buyer("alice");
    String path = "/v1/holds/" + hold(buyer, campaign, "cart");

    List<CompletableFuture<Reply>> replies =
        inOneBatch(
            campaign,
            List.of(() -> buyer.delete(path), () -> buyer.post(path + "/checkout", "c", CARD)));

    replies.get(0).get().expect(200);
    replies.get(1).get().expectProblem(409, "hold-ended");
  }

  @Test
  void aRefusalIsNoRollbackForTheOthersOfItsBatch() throws Exception {
    String campaign = server.drop(100, null);
    Client shop = server.service();
    JsonObject waiting =
        shop.post(
                "/v1/campaigns/" + campaign + "/purchases",
                "p",
                order("alice", "pm_card_authenticationRequired", sku("A", 1)))
            .expect(202);
    List<Callable<Reply>> requests = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      String own = "/v1/holds/" + hold(shop, campaign, "h" + i);
      boolean paidFor = i % 6 == 0;
      String path = paidFor ? "/v1/holds/" + waiting.getString("hold") : own;
      requests.add(() -> shop.put(path, FIVE.copy()));
    }
    double before = rollbacks();

    List<CompletableFuture<Reply>> replies = inOneBatch(campaign, requests);

    for (int i = 0; i < 24; i++) {
      Reply reply = replies.get(i).get();
      if (i % 6 == 0) {
        reply.expectProblem(409, "hold-in-checkout");
      }
    }
    assertThat(rollbacks()).isEqualTo(before);
  }

  private static String hold(Client client, String campaign, String key) throws Exception {
    return client
        .post("/v1/campaigns/" + campaign + "/holds", key, cart("alice", sku("A", 1)))
        .expect(201)
        .getString("id");
  }

  /** Sent while the campaign's writer waits for its stock, each when the one before is queued. */
  private static List<CompletableFuture<Reply>> inOneBatch(
      String campaign, List<Callable<Reply>> requests) throws Exception {
    List<CompletableFuture<Reply>> replies = new ArrayList<>();
    try (Connection connection = server.database().connection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("SELECT 1 FROM lockstep.pool WHERE scope = " + campaign + " FOR UPDATE");
      CompletableFuture<Reply> busy =
          begin(
              () ->
                  server
                      .operator()
                      .post(
                          "/v1/campaigns/" + campaign + "/holds",
                          "busy",
                          cart("busy", sku("A", 1))));
      Await.until(
          "the writer waits",
          () ->
              server
                      .database()
                      .queryLong(
                          "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                              + " AND datname = current_database()")
                  > 0);
      for (Callable<Reply> request : requests) {
        int queued = replies.size() + 1;
        replies.add(begin(request));
        Await.until("it is queued", () -> number("lockstep_combiner_waiting", "holds") >= queued);
      }
      connection.rollback();
      busy.get().expect(201);
    }
    return replies;
  }

  private static CompletableFuture<Reply> begin(Callable<Reply> request) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return request.call();
          } catch (Exception e) {
            throw new CompletionException(e);
          }
        },
        task -> new Thread(task, "a request").start());
  }

  /** Of the sale, for whatever reason. */
  private static double rollbacks() throws Exception {
    return number("lockstep_database_transaction_duration_seconds_count", "transaction=\"holds\"")
        - number(
            "lockstep_database_transaction_duration_seconds_count",
            "outcome=\"committed\",transaction=\"holds\"");
  }

  /** The sum of a metric's lines that say so. */
  private static double number(String name, String part) throws Exception {
    Matcher line =
        Pattern.compile("(?m)^" + name + "(\\S*) (\\S+)$")
            .matcher(server.anyone().get("/metrics").response().body());
    double sum = 0;
    while (line.find()) {
      if (line.group(1).contains(part)) {
        sum += Double.parseDouble(line.group(2));
      }
    }
    return sum;
  }
}
