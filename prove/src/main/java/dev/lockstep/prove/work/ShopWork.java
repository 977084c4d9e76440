package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Op;
import dev.lockstep.prove.node.Answer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Purchases at shops over HTTP: cards that pay, are declined and followed by another, or ask for a
 * challenge; repeats, refunds, abandoned purchases, forged webhooks.
 */
final class ShopWork implements Workload {
  private static final int ACTIVE = 3;
  private static final int STOCK = 30;
  private static final int BUYS_PER_CAMPAIGN = 60;
  private static final int RECENT = 12;
  private static final int POLLS = 150;
  private static final long POLL_MS = 400;
  private static final int PAGE = 100;
  private static final List<String> OPEN =
      List.of("pending", "requiresAction", "requiresPaymentMethod", "refunding");

  private record Sale(String id, AtomicInteger buys) {}

  private final Round round;
  private final ShopHttp http;
  private final List<Sale> active = new CopyOnWriteArrayList<>();
  private final List<String> campaigns = new CopyOnWriteArrayList<>();
  private final Recently orders = new Recently(RECENT);
  private final Recently purchases = new Recently(RECENT);

  ShopWork(Round round) {
    this.round = round;
    this.http = new ShopHttp(round.cluster());
  }

  @Override
  public void prepare(Client client) throws InterruptedException {
    for (int i = 0; i < ACTIVE; i++) {
      active.add(open());
    }
  }

  private Sale open() throws InterruptedException {
    JsonArray products = new JsonArray().add(product("A", 250)).add(product("B", 700));
    JsonObject drop =
        new JsonObject()
            .put("kind", "drop")
            .put("name", "A drop")
            .put("currency", "USD")
            .put("holdSeconds", 4)
            .put("products", products);
    for (int i = 0; ; i++) {
      int shop = i % round.cluster().shops();
      try {
        String id = http.shop(shop, "POST", "/v1/campaigns", drop).getString("id");
        http.shop(shop, "POST", "/v1/campaigns/" + id + "/publish", null);
        campaigns.add(id);
        return new Sale(id, new AtomicInteger());
      } catch (IOException e) {
        if (i > POLLS) {
          throw new IllegalStateException("No shop opens a campaign", e);
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MS);
      }
    }
  }

  private static JsonObject product(String sku, int price) {
    return new JsonObject()
        .put("sku", sku)
        .put("name", "Thing " + sku)
        .put("price", price)
        .put("stock", STOCK);
  }

  @Override
  public void step(Client client) throws InterruptedException {
    int what = client.below(100);
    if (what < 50 || !orders.any()) {
      buy(client);
    } else if (what < 62) {
      post(client, "shop.buy", orders.pick(client));
    } else if (!purchases.any()) {
      buy(client);
    } else if (what < 72) {
      challenge(client, purchases.pick(client));
    } else if (what < 82) {
      payAgain(client, purchases.pick(client));
    } else if (what < 85) {
      Fields named = purchases.pick(client);
      change(client, "shop.giveUp", "DELETE", named, "", "", new JsonObject());
    } else if (what < 95) {
      refund(client, purchases.pick(client));
    } else {
      forge(client, purchases.pick(client));
    }
  }

  private void buy(Client client) throws InterruptedException {
    int place = client.below(ACTIVE);
    Sale sale = active.get(place);
    if (sale.buys().incrementAndGet() == BUYS_PER_CAMPAIGN) {
      active.set(place, open());
    }
    int card = client.below(100);
    String key = client.uuid().toString();
    Fields order =
        Fields.of(
            "campaign",
            sale.id(),
            "key",
            key,
            "sku",
            client.chance(60) ? "A" : "B",
            "quantity",
            1 + client.below(3),
            "card",
            card < 60
                ? "pm_card_visa"
                : card < 80 ? "pm_card_chargeDeclined" : "pm_card_authenticationRequired");
    orders.add(order);
    post(client, "shop.buy", order);
  }

  /** The buyer is named after the key, so that each has one purchase. */
  private void post(Client client, String kind, Fields order) throws InterruptedException {
    JsonObject item =
        new JsonObject().put("sku", order.text("sku")).put("quantity", order.number("quantity"));
    JsonObject body =
        new JsonObject()
            .put("buyer", order.text("key"))
            .put("items", new JsonArray().add(item))
            .put("paymentMethod", order.text("card"));
    String path = "/v1/campaigns/" + order.text("campaign") + "/purchases";
    Op op =
        client.doing(kind, order, shop -> http.ask(shop, "POST", path, order.text("key"), body));
    if (op.result().has("purchase")) {
      purchases.add(op.result().with("campaign", order.text("campaign")));
    }
  }

  private void change(
      Client client,
      String kind,
      String method,
      Fields named,
      String path,
      String key,
      JsonObject body)
      throws InterruptedException {
    String id = named.text("purchase");
    Fields args = Fields.of("campaign", named.text("campaign"), "purchase", id, "key", key);
    if (body.containsKey("amount")) {
      args = args.with("amount", body.getLong("amount"));
    }
    client.doing(
        kind,
        args,
        shop ->
            http.ask(
                shop,
                method,
                "/v1/purchases/" + id + path,
                key,
                method.equals("DELETE") ? null : body));
  }

  private void payAgain(Client client, Fields named) throws InterruptedException {
    String card = client.chance(70) ? "pm_card_visa" : "pm_card_chargeDeclined";
    change(
        client,
        "shop.pay",
        "POST",
        named,
        "/pay",
        client.uuid().toString(),
        new JsonObject().put("paymentMethod", card));
  }

  private void refund(Client client, Fields named) throws InterruptedException {
    JsonObject body = new JsonObject().put("reason", "a test");
    if (client.chance(60)) {
      body.put("amount", 1 + client.below(300));
    }
    change(client, "shop.refund", "POST", named, "/refund", client.uuid().toString(), body);
  }

  /** The cardholder passes the bank's challenge, or does not. */
  private void challenge(Client client, Fields named) {
    String intent = named.text("intent");
    if (!intent.isEmpty()) {
      try {
        round.cluster().bank().orElseThrow().authenticate(intent, client.chance(75));
      } catch (RuntimeException e) {
        // The bank's database was down; the cardholder does not try again.
      }
    }
  }

  /** Sends a webhook signed without the secret, which the shop must refuse. */
  private void forge(Client client, Fields named) throws InterruptedException {
    JsonObject intent =
        new JsonObject()
            .put("id", named.text("intent"))
            .put("object", "payment_intent")
            .put("amount", named.number("total"))
            .put("amount_received", named.number("total"))
            .put("currency", "usd")
            .put("status", "succeeded")
            .put("metadata", new JsonObject().put("purchase", named.text("purchase")));
    JsonObject event =
        new JsonObject()
            .put("id", "evt_" + client.uuid())
            .put("object", "event")
            .put("type", "payment_intent.succeeded")
            .put("data", new JsonObject().put("object", intent));
    String signature =
        "t=%d,v1=%s"
            .formatted(
                System.currentTimeMillis() / 1_000,
                client.uuid().toString().replace("-", "")
                    + client.uuid().toString().replace("-", ""));
    Fields args = Fields.of("campaign", named.text("campaign"), "purchase", named.text("purchase"));
    client.doing(
        "shop.forged",
        args,
        shop -> {
          try {
            int status =
                http.send(
                        round.cluster().shopUrl(shop).resolve("/v1/webhooks/stripe"),
                        "POST",
                        "",
                        Map.of("Stripe-Signature", signature),
                        event)
                    .statusCode();
            return status < 300 ? Answer.ok("http", status) : Answer.refused("http " + status);
          } catch (IOException e) {
            return Answer.failed("the node is down");
          }
        });
  }

  @Override
  public void finish(Client client) throws InterruptedException {
    Map<String, List<Fields>> bought = new HashMap<>();
    for (int i = 0; i < POLLS; i++) {
      bought.clear();
      boolean settled = true;
      for (String campaign : campaigns) {
        List<Fields> all = purchasesOf(campaign);
        bought.put(campaign, all);
        settled &= all.stream().noneMatch(each -> OPEN.contains(each.text("status")));
      }
      if (settled) {
        break;
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
    }
    Map<String, long[]> money = money();
    for (String campaign : campaigns) {
      for (Fields each : bought.getOrDefault(campaign, List.of())) {
        String id = each.text("purchase");
        long[] its = money.getOrDefault(id, new long[2]);
        client.note(
            "final.purchase",
            Fields.of("campaign", campaign, "purchase", id),
            each.with("charged", its[0]).with("back", its[1]));
      }
      stock(client, campaign);
    }
    Set<String> known = new HashSet<>();
    bought.values().forEach(all -> all.forEach(each -> known.add(each.text("purchase"))));
    money.forEach(
        (id, its) -> {
          String campaign = id.substring(0, Math.max(0, id.indexOf('.')));
          if (campaigns.contains(campaign) && !known.contains(id) && its[0] > its[1]) {
            client.note(
                "final.stray",
                Fields.of("campaign", campaign, "purchase", id),
                Fields.of("charged", its[0], "back", its[1]));
          }
        });
  }

  private List<Fields> purchasesOf(String campaign) throws InterruptedException {
    List<Fields> all = new CopyOnWriteArrayList<>();
    String after = "";
    do {
      JsonObject page = read("/v1/purchases?campaign=" + campaign + "&limit=" + PAGE + after);
      for (Object item : page.getJsonArray("items")) {
        all.add(ShopHttp.purchase((JsonObject) item));
      }
      String next = page.getString("next");
      after = next == null ? "" : "&after=" + next;
    } while (!after.isEmpty());
    return all;
  }

  private void stock(Client client, String campaign) throws InterruptedException {
    JsonObject json = read("/v1/campaigns/" + campaign);
    client.note(
        "final.stock",
        Fields.of("campaign", campaign),
        Fields.of(
            "total", json.getLong("total"),
            "held", json.getLong("held"),
            "sold", json.getLong("sold")));
  }

  private JsonObject read(String path) throws InterruptedException {
    for (int i = 0; ; i++) {
      try {
        return http.shop(i % round.cluster().shops(), "GET", path, null);
      } catch (IOException e) {
        if (i > POLLS) {
          throw new IllegalStateException("No shop answers", e);
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MS);
      }
    }
  }

  /** What the bank charged and refunded, by purchase. */
  private Map<String, long[]> money() throws InterruptedException {
    try {
      Map<String, String> purchaseOf = new HashMap<>();
      Map<String, long[]> money = new HashMap<>();
      pages(
          "/v1/payment_intents",
          intent -> {
            String purchase = intent.getJsonObject("metadata").getString("purchase", "");
            purchaseOf.put(intent.getString("id"), purchase);
            money.computeIfAbsent(purchase, p -> new long[2])[0] +=
                intent.getString("status").equals("succeeded")
                    ? intent.getLong("amount_received")
                    : 0;
          });
      pages(
          "/v1/refunds",
          refund -> {
            String purchase = purchaseOf.getOrDefault(refund.getString("payment_intent"), "");
            money.computeIfAbsent(purchase, p -> new long[2])[1] +=
                refund.getString("status").equals("succeeded") ? refund.getLong("amount") : 0;
          });
      return money;
    } catch (IOException e) {
      throw new IllegalStateException("The bank does not answer", e);
    }
  }

  private void pages(String path, Consumer<JsonObject> each)
      throws IOException, InterruptedException {
    String after = "";
    boolean more = true;
    while (more) {
      JsonObject page = http.bank(path + "?limit=100" + after);
      for (Object item : page.getJsonArray("data")) {
        JsonObject object = (JsonObject) item;
        each.accept(object);
        after = "&starting_after=" + object.getString("id");
      }
      more = page.getBoolean("has_more", false);
    }
  }
}
