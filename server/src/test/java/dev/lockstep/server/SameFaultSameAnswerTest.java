package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the database does to a request decides the answer, whichever route it came by. */
@Timeout(300)
class SameFaultSameAnswerTest {
  /** Most of these wait until the server gives up, so it does so early. */
  @RegisterExtension
  static final RunningServer server =
      new RunningServer()
          .with("LOCKSTEP_STATEMENT_TIMEOUT", "3s")
          .with("LOCKSTEP_TRANSACTION_DEADLINE", "4s");

  private static final JsonObject CARD = new JsonObject().put("paymentMethod", "pm_card_visa");
  private static final String KILL = "PERFORM pg_terminate_backend(pg_backend_pid())";

  /** What a write meets. */
  enum Fault {
    CONNECTION_KILLED(KILL, false),
    LOCK_WAIT("RAISE EXCEPTION 'planted' USING ERRCODE = '55P03'", false),
    STATEMENT_TIMEOUT("PERFORM pg_sleep(60)", false),
    SERIALIZATION_FAILURE("RAISE EXCEPTION 'planted' USING ERRCODE = '40001'", false),
    DEADLOCK("RAISE EXCEPTION 'planted' USING ERRCODE = '40P01'", false),
    READ_ONLY("RAISE EXCEPTION 'planted' USING ERRCODE = '25006'", false),
    SHUTTING_DOWN("RAISE EXCEPTION 'planted' USING ERRCODE = '57P01'", false),
    KILLED_IN_COMMIT(KILL, true);

    private final String does;
    private final boolean inCommit;

    Fault(String does, boolean inCommit) {
      this.does = does;
      this.inCommit = inCommit;
    }
  }

  /** A request, and the table that only it writes to. */
  private record Route(String table, Asked asked) {}

  @FunctionalInterface
  private interface Asked {
    Reply ask(String key) throws Exception;
  }

  private static final Map<String, Route> ROUTES = new LinkedHashMap<>();

  @BeforeAll
  static void prepareEverything() throws Exception {
    Client operator = server.operator();
    Client shop = server.service();
    String sale = server.drop(1_000, null);
    String other = server.drop(1_000, null);
    String holds = "/v1/campaigns/" + sale + "/holds";
    String changed = hold(shop, holds, "changed");
    String released = hold(shop, holds, "released");
    String extended = hold(shop, holds, "extended");
    String paid = hold(shop, holds, "paid");
    String bought =
        shop.post(
                "/v1/campaigns/" + sale + "/purchases",
                "bought",
                order("buyer", "pm_card_visa", sku("A", 1)))
            .expect(201)
            .getString("id");
    String from = account(operator, "from", null);
    String to = account(operator, "to", 0L);
    String draft =
        operator.post("/v1/campaigns", RunningServer.dropOf(5)).expect(201).getString("id");
    String key =
        operator
            .post("/v1/keys", new JsonObject().put("role", "service").put("name", "to go"))
            .expect(201)
            .getString("id");
    JsonObject stream =
        new JsonObject()
            .put(
                "sinks",
                new JsonArray().add(new JsonObject().put("name", "log").put("type", "log")));
    operator.put("/v1/streams/faults", stream).expect(200);
    JsonObject schedule =
        new JsonObject()
            .put("name", "a schedule")
            .put("when", new JsonObject().put("cron", "0 9 * * *").put("zone", "UTC"))
            .put(
                "deliver",
                new JsonObject()
                    .put("webhook", "http://localhost:1/")
                    .put("body", new JsonObject()));
    String scheduled =
        shop.post("/v1/schedules", "scheduled", schedule).expect(201).getString("id");

    String hold = "lockstep.hold";
    String purchase = "lockstep_server.purchase";
    add("hold", hold, k -> shop.post(holds, k, cart("b", sku("A", 1))));
    add(
        "change",
        hold,
        k ->
            shop.put(
                "/v1/holds/" + changed,
                new JsonObject().put("items", cart("b", sku("A", 2)).getJsonArray("items"))));
    add("release", hold, k -> shop.delete("/v1/holds/" + released));
    add("extend", hold, k -> shop.post("/v1/holds/" + extended + "/extend", null));
    add("extend once", hold, k -> shop.post("/v1/holds/" + extended + "/extend", k, null));
    add("checkout", purchase, k -> shop.post("/v1/holds/" + paid + "/checkout", k, CARD));
    add(
        "purchase",
        purchase,
        k ->
            shop.post(
                "/v1/campaigns/" + sale + "/purchases",
                k,
                order("b", "pm_card_visa", sku("A", 1))));
    add("refund", purchase, k -> operator.post("/v1/purchases/" + bought + "/refund", k, null));
    add(
        "transfer",
        "lockstep.transfer",
        k ->
            operator.post(
                "/v1/transfers",
                k,
                new JsonObject()
                    .put("from", from)
                    .put("to", to)
                    .put("amount", 5)
                    .put("currency", "USD")));
    add(
        "account",
        "lockstep.account",
        k -> operator.post("/v1/accounts", k, accountBody("more", 0L)));
    add("schedule", "lockstep.job_schedule", k -> shop.post("/v1/schedules", k, schedule));
    add("end schedule", "lockstep.job_schedule", k -> shop.delete("/v1/schedules/" + scheduled));
    add(
        "event",
        "lockstep.outbox_key",
        k ->
            shop.post(
                "/v1/streams/faults/events",
                k,
                new JsonObject().put("key", "k").put("type", "t").put("data", new JsonObject())));
    add(
        "queue",
        "lockstep_server.queue_pause",
        k -> operator.post("/v1/queues/webhooks/pause", new JsonObject().put("reason", "x")));
    add(
        "key",
        "lockstep_server.api_key",
        k ->
            operator.post(
                "/v1/keys", new JsonObject().put("role", "service").put("name", "another")));
    add("revoke", "lockstep_server.api_key", k -> operator.delete("/v1/keys/" + key));
    add(
        "campaign",
        "lockstep_server.campaign",
        k -> operator.post("/v1/campaigns", RunningServer.dropOf(5)));
    add(
        "publish",
        "lockstep_server.campaign",
        k -> operator.post("/v1/campaigns/" + draft + "/publish", null));
    add(
        "pause",
        "lockstep_server.campaign_action",
        k -> operator.post("/v1/campaigns/" + other + "/pause", null));
  }

  @AfterEach
  void mendTheDatabase() {
    server.database().execute("DROP FUNCTION IF EXISTS planted() CASCADE");
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void everyRouteAnswersItInTheSameWay(Fault fault) throws Exception {
    plant(fault, tables());
    check(fault, List.copyOf(ROUTES.keySet()), "own");
  }

  /** The same, where many routes meet: at their idempotency keys, and at the stock. */
  @ParameterizedTest
  @EnumSource(Fault.class)
  void whereverInTheTransactionItComes(Fault fault) throws Exception {
    plant(fault, List.of("lockstep.once"));
    check(
        fault,
        List.of(
            "hold",
            "extend once",
            "checkout",
            "purchase",
            "refund",
            "transfer",
            "account",
            "schedule",
            "event"),
        "keys");
    mendTheDatabase();
    plant(fault, List.of("lockstep.pool"));
    check(fault, List.of("hold", "change", "release", "purchase"), "stock");
  }

  /** Nobody can even read: somebody has locked everything. */
  @Test
  void everyRouteWaitsForALockedTableForABoundedTime() throws Exception {
    try (Connection connection = server.database().connection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      for (String table : tables()) {
        statement.execute("LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE");
      }
      check(Fault.LOCK_WAIT, List.copyOf(ROUTES.keySet()), "locked");
      connection.rollback();
    }
  }

  private static void check(Fault fault, List<String> names, String where) throws Exception {
    List<Route> routes = names.stream().map(ROUTES::get).map(Objects::requireNonNull).toList();
    List<Reply> replies =
        Race.<Reply>of(names.size())
            .run(i -> routes.get(i).asked().ask(fault + " " + where + " " + i))
            .valuesOrThrow();

    Map<String, String> answers = new TreeMap<>();
    for (int i = 0; i < names.size(); i++) {
      Reply reply = replies.get(i);
      String type = String.valueOf(reply.json().getString("type"));
      answers.put(
          names.get(i),
          reply.status()
              + " "
              + type.substring(type.lastIndexOf('/') + 1)
              + (reply.header("Retry-After").isPresent() ? "" : " without Retry-After"));
      if (type.endsWith("/outcome-unknown")) {
        assertThat(reply.json().getString("detail")).contains("same Idempotency-Key");
      }
    }
    if (fault.inCommit) {
      assertThat(answers.values())
          .as("%s", answers)
          .allMatch(a -> a.matches("503 (unavailable|outcome-unknown)"));
    } else {
      assertThat(answers.values()).as("%s", answers).containsOnly("503 unavailable");
    }
  }

  private static List<String> tables() {
    return ROUTES.values().stream().map(Route::table).distinct().toList();
  }

  private static void plant(Fault fault, List<String> tables) {
    server
        .database()
        .execute(
            "CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                + fault.does
                + "; RETURN NULL; END $$");
    tables.forEach(
        table ->
            server
                .database()
                .execute(
                    fault.inCommit
                        ? "CREATE CONSTRAINT TRIGGER planted AFTER INSERT OR UPDATE OR DELETE ON "
                            + table
                            + " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION planted()"
                        : "CREATE TRIGGER planted AFTER INSERT OR UPDATE OR DELETE ON "
                            + table
                            + " FOR EACH ROW EXECUTE FUNCTION planted()"));
  }

  private static void add(String name, String table, Asked asked) {
    ROUTES.put(name, new Route(table, asked));
  }

  private static String hold(Client shop, String path, String key) throws Exception {
    return shop.post(path, key, cart("b", sku("A", 1))).expect(201).getString("id");
  }

  private static String account(Client operator, String name, @Nullable Long floor)
      throws Exception {
    return operator
        .post("/v1/accounts", "open " + name, accountBody(name, floor))
        .expect(201)
        .getString("id");
  }

  private static JsonObject accountBody(String name, @Nullable Long floor) {
    return new JsonObject().put("name", name).put("currency", "USD").put("floor", floor);
  }
}
