package dev.lockstep.cli.rush;

import dev.lockstep.cli.rush.RushReport.Check;
import dev.lockstep.cli.rush.RushReport.Percentiles;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * Runs a rush. Each buyer asks for one item, chosen at random from those free at the start, and
 * moves on to another when it is sold out, until nothing is left.
 */
public final class Rush {
  private static final String CARD = "pm_card_visa";
  private static final int PAGE = 1_000;
  private static final long CHECK_POLL_MS = 500;

  private final RushPlan plan;
  private final Shop shop;
  private final IntConsumer progress;
  private final String run = UUID.randomUUID().toString().substring(0, 8);

  /**
   * @param progress receives how many buyers have been served; called by many threads
   */
  public Rush(RushPlan plan, IntConsumer progress) {
    this.plan = plan;
    this.shop = new Shop(plan.url(), plan.key());
    this.progress = progress;
  }

  /** The outcome for one buyer. */
  private record Served(boolean sold, String slug, List<JsonObject> positions, List<Long> nanos) {}

  /** Blocks until all buyers are served and the books are checked. */
  public RushReport run() throws RushFailed, InterruptedException {
    JsonObject before = campaign();
    String id = before.getString("id");
    List<JsonObject> offers = offers(before);
    if (offers.isEmpty()) {
      throw new RushFailed("campaign " + id + " has nothing for sale");
    }
    long beganNanos = System.nanoTime();
    List<Served> served = serveAll(id, offers);
    Duration took = Duration.ofNanos(System.nanoTime() - beganNanos);

    JsonObject after = shop.get("/v1/campaigns/" + id);
    int sold = (int) served.stream().filter(Served::sold).count();
    SortedMap<String, Integer> refused = new TreeMap<>();
    int unanswered = 0;
    for (Served one : served) {
      if (one.slug().isEmpty()) {
        unanswered += one.sold() ? 0 : 1;
      } else {
        refused.merge(one.slug(), 1, Integer::sum);
      }
    }
    return new RushReport(
        id,
        before.getString("name"),
        plan.buyers(),
        sold,
        refused,
        unanswered,
        took,
        percentiles(served),
        checks(before, after, served, sold, unanswered));
  }

  private JsonObject campaign() throws RushFailed, InterruptedException {
    if (plan.campaign().isPresent()) {
      return shop.get("/v1/campaigns/" + plan.campaign().get());
    }
    Optional<String> after = Optional.of("");
    while (after.isPresent()) {
      String cursor = after.get().isEmpty() ? "" : "&after=" + after.get();
      JsonObject page = shop.get("/v1/campaigns?limit=100" + cursor);
      for (Object item : page.getJsonArray("items")) {
        JsonObject campaign = (JsonObject) item;
        if (campaign.getString("status").equals("published") && !offers(campaign).isEmpty()) {
          return campaign;
        }
      }
      after = Optional.ofNullable(page.getString("next"));
    }
    throw new RushFailed(
        "no campaign has anything for sale; publish one, or name one with --campaign");
  }

  /** Items with free stock, in the form that a purchase request uses. */
  private static List<JsonObject> offers(JsonObject campaign) {
    List<JsonObject> offers = new ArrayList<>();
    boolean triangle = campaign.containsKey("layers");
    for (Object item : campaign.getJsonArray(triangle ? "layers" : "products")) {
      JsonObject stock = (JsonObject) item;
      if (stock.getInteger("free") > 0 && !stock.getBoolean("paused", false)) {
        String field = triangle ? "layer" : "sku";
        offers.add(new JsonObject().put(field, stock.getValue(field)).put("quantity", 1));
      }
    }
    return offers;
  }

  private List<Served> serveAll(String campaign, List<JsonObject> offers)
      throws InterruptedException {
    List<Served> served = Collections.synchronizedList(new ArrayList<>());
    AtomicInteger next = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Math.min(plan.atOnce(), plan.buyers()); i++) {
      Thread thread =
          new Thread(
              () -> {
                int buyer = next.getAndIncrement();
                while (buyer < plan.buyers() && !Thread.currentThread().isInterrupted()) {
                  served.add(serve(campaign, buyer, offers));
                  progress.accept(served.size());
                  buyer = next.getAndIncrement();
                }
              },
              "rush-" + i);
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      threads.forEach(Thread::interrupt);
      throw e;
    }
    return List.copyOf(served);
  }

  private Served serve(String campaign, int buyer, List<JsonObject> offers) {
    List<JsonObject> wishes = new ArrayList<>(offers);
    Collections.shuffle(wishes, ThreadLocalRandom.current());
    List<Long> nanos = new ArrayList<>();
    String slug = "";
    try {
      for (int i = 0; i < wishes.size(); i++) {
        JsonObject body =
            new JsonObject()
                .put("buyer", "rush-" + run + "-" + buyer)
                .put("items", new JsonArray().add(wishes.get(i)))
                .put("paymentMethod", CARD);
        Shop.Reply reply = shop.buy(campaign, "rush-" + run + "-" + buyer + "-" + i, body);
        nanos.add(reply.tookNanos());
        if (reply.status() == 201) {
          return new Served(true, "", positions(reply.body()), nanos);
        }
        boolean answered = reply.status() >= 400 && reply.status() < 500;
        slug = answered ? reply.slug() : "";
        if (!slug.equals("sold-out")) {
          return new Served(false, slug, List.of(), nanos);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Served(false, "", List.of(), nanos);
    }
    return new Served(false, slug, List.of(), nanos);
  }

  private static List<JsonObject> positions(JsonObject purchase) {
    List<JsonObject> positions = new ArrayList<>();
    purchase.getJsonArray("positions", new JsonArray()).forEach(p -> positions.add((JsonObject) p));
    return positions;
  }

  private List<Check> checks(
      JsonObject before, JsonObject after, List<Served> served, int sold, int unanswered)
      throws RushFailed, InterruptedException {
    int total = after.getInteger("total");
    int out = after.getInteger("held") + after.getInteger("sold");
    int soldNow = after.getInteger("sold");
    int soldSince = soldNow - before.getInteger("sold");
    String campaign = after.getString("id");
    long charged = units(campaign, "completed") + units(campaign, "refunding");
    // Units refunded before the draw are free again; units refunded after it stay sold.
    long keptSold = after.getString("status").equals("drawn") ? units(campaign, "refunded") : 0;
    int twice = twice(served);
    long soldOut = served.stream().filter(one -> one.slug().equals("sold-out")).count();
    boolean invariants = invariantsHold();
    List<Check> checks = new ArrayList<>();
    checks.add(
        new Check(
            "answered", served.size() - unanswered + " of " + plan.buyers(), unanswered == 0));
    checks.add(
        new Check(
            "oversold",
            Math.max(0, out - total) + " (" + out + " of " + total + " out)",
            out <= total));
    checks.add(new Check("sold twice", twice + " positions", twice == 0));
    checks.add(
        new Check(
            "stock agrees",
            sold + " sold here, " + soldSince + " in the campaign",
            sold <= soldSince));
    checks.add(
        new Check(
            "charged = sold",
            charged + " = " + soldNow,
            charged <= soldNow && soldNow <= charged + keptSold));
    checks.add(
        new Check(
            "nothing left over",
            soldOut + " told sold out, " + after.getInteger("free") + " free",
            soldOut == 0 || after.getInteger("free") == 0));
    checks.add(new Check("invariants", invariants ? "hold" : "broken", invariants));
    return checks;
  }

  /** After many sales the check outlasts its request, so this polls until it is complete. */
  private boolean invariantsHold() throws RushFailed, InterruptedException {
    JsonObject report = shop.post("/v1/invariants/check");
    boolean complete = report.getBoolean("complete", true);
    while (!complete) {
      Thread.sleep(CHECK_POLL_MS);
      report = shop.get("/v1/invariants");
      complete = report.getJsonObject("full").getString("finishedAt") != null;
    }
    return report.getBoolean("ok");
  }

  /** Counts units in purchases of one status. */
  private long units(String campaign, String status) throws RushFailed, InterruptedException {
    long units = 0;
    String path = "/v1/purchases?campaign=" + campaign + "&status=" + status + "&limit=" + PAGE;
    Optional<String> after = Optional.of("");
    while (after.isPresent()) {
      JsonObject page = shop.get(path + (after.get().isEmpty() ? "" : "&after=" + after.get()));
      for (Object purchase : page.getJsonArray("items")) {
        for (Object item : ((JsonObject) purchase).getJsonArray("items")) {
          units += ((JsonObject) item).getInteger("quantity");
        }
      }
      after = Optional.ofNullable(page.getString("next"));
    }
    return units;
  }

  private static int twice(List<Served> served) {
    Set<JsonObject> seen = new HashSet<>();
    int twice = 0;
    for (Served one : served) {
      for (JsonObject position : one.positions()) {
        twice += seen.add(position) ? 0 : 1;
      }
    }
    return twice;
  }

  private static Percentiles percentiles(List<Served> served) {
    long[] nanos =
        served.stream()
            .flatMap(one -> one.nanos().stream())
            .mapToLong(Long::longValue)
            .sorted()
            .toArray();
    return new Percentiles(at(nanos, 0.50), at(nanos, 0.95), at(nanos, 0.99));
  }

  private static double at(long[] sorted, double share) {
    if (sorted.length == 0) {
      return 0;
    }
    int index = (int) Math.ceil(share * sorted.length) - 1;
    return Math.round(sorted[Math.max(0, index)] / 10_000.0) / 100.0;
  }
}
