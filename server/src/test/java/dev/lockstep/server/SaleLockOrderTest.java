package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.layer;
import static dev.lockstep.server.Client.order;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.locking.LockLog;
import dev.lockstep.locking.LockLog.Lock;
import dev.lockstep.sql.LockOrder.RowKind;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The server's own companions keep the lock order of the blocks: purchases with their keys, books,
 * events and draws, carts, and transfers. PostgreSQL's log has what they really send.
 */
@Timeout(120)
class SaleLockOrderTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  private static final JsonObject VISA = new JsonObject().put("paymentMethod", "pm_card_visa");

  @Test
  void everyTransactionOfASaleLocksInTheOneOrder() throws Exception {
    StatementLog log = new StatementLog(server.database());
    LockLog locks = new LockLog(server.database());
    try (Server node = server.start(false)) {
      Client shop = new Client(node.url(), server.service().key());
      Client operator = new Client(node.url(), Optional.of(RunningServer.OPERATOR_KEY));
      sell(shop, operator);
      transfer(operator);
    }

    Set<RowKind> kinds = EnumSet.noneOf(RowKind.class);
    List<String> broken = new ArrayList<>();
    boolean wholePurchase = false;
    for (List<String> transaction : log.transactions()) {
      List<Lock> taken = transaction.stream().flatMap(sql -> locks.locks(sql).stream()).toList();
      LockLog.outOfOrder(taken).ifPresent(broken::add);
      Set<RowKind> its = EnumSet.noneOf(RowKind.class);
      taken.forEach(lock -> its.add(lock.kind()));
      wholePurchase |=
          its.containsAll(
              EnumSet.of(RowKind.HOLD, RowKind.POOL, RowKind.ACCOUNT, RowKind.OUTBOX_KEY));
      kinds.addAll(its);
    }
    assertThat(broken).isEmpty();
    assertThat(kinds).isEqualTo(EnumSet.allOf(RowKind.class));
    assertThat(wholePurchase).as("a sale with its book and its event was seen").isTrue();
  }

  /**
   * A purchase, carts that end in each way, a refusal, a refund, and the last sale with its draw.
   */
  private static void sell(Client shop, Client operator) throws Exception {
    JsonObject log = new JsonObject().put("name", "log").put("type", "log");
    // The server may have made the stream before.
    assertThat(
            operator
                .put("/v1/streams/sales", new JsonObject().put("sinks", new JsonArray().add(log)))
                .status())
        .isIn(200, 201);
    String campaign = server.triangle(3, 20);
    String purchases = "/v1/campaigns/" + campaign + "/purchases";
    JsonObject bought = shop.post(purchases, "a", order("alice", 3, "pm_card_visa")).expect(201);
    JsonObject declined =
        shop.post(purchases, "b", order("bob", 3, "pm_card_chargeDeclined")).expect(402);
    String givenUp = declined.getJsonObject("purchase").getString("id");
    shop.delete("/v1/purchases/" + givenUp).expect(200);
    operator.post("/v1/purchases/" + bought.getString("id") + "/refund", "r", null).expect(200);
    String released = hold(shop, campaign, "c1", 1);
    shop.delete("/v1/holds/" + released).expect(200);
    String changed = hold(shop, campaign, "c2", 2);
    shop.put("/v1/holds/" + changed, new JsonObject().put("items", items(1))).expect(200);
    shop.post("/v1/holds/" + changed + "/extend", null).expect(200);
    shop.post("/v1/holds/" + changed + "/checkout", "p", VISA).expect(201);
    int sold = 0;
    for (int layer : new int[] {2, 2, 3, 3, 3}) {
      shop.post(purchases, "k" + sold++, order("carol", layer, "pm_card_visa")).expect(201);
    }
    assertThat(shop.get("/v1/campaigns/" + campaign + "/draw").expect(200)).isNotEmpty();
  }

  private static void transfer(Client operator) throws Exception {
    JsonArray accounts = new JsonArray();
    for (String name : List.of("world", "Ann")) {
      accounts.add(
          operator
              .post(
                  "/v1/accounts",
                  new JsonObject().put("name", name).put("currency", "JPY").putNull("floor"))
              .expect(201)
              .getString("id"));
    }
    JsonObject transfer =
        new JsonObject()
            .put("from", accounts.getString(0))
            .put("to", accounts.getString(1))
            .put("amount", 10)
            .put("currency", "JPY");
    operator.post("/v1/transfers", "t", transfer).expect(201);
  }

  private static String hold(Client shop, String campaign, String key, int layer) throws Exception {
    return shop.post("/v1/campaigns/" + campaign + "/holds", key, cart("dave", layer(layer, 1)))
        .expect(201)
        .getString("id");
  }

  private static JsonArray items(int layer) {
    return new JsonArray().add(layer(layer, 1));
  }
}
