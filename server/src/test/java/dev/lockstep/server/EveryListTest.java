package dev.lockstep.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.EveryRoute.Operation;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every list that pages: full pages, each item once, also while others come and go. */
@Timeout(180)
class EveryListTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final int SOME = 8;

  /** What narrows a list to what stands still, or what it asks for. */
  private static final Map<String, String> NARROWED =
      Map.of(
          "/v1/jobs", "queue=lockstep-schedules&",
          "/v1/streams/{stream}/events", "key=k&",
          "/v1/holds", "campaign=1&");

  /** Every filter, with a value that {@link #NARROWED} does not have. */
  private static final Map<String, String> FILTERS =
      Map.ofEntries(
          Map.entry("queue", "q"),
          Map.entry("kind", "k"),
          Map.entry("text", "t"),
          Map.entry("role", "service"),
          Map.entry("pool", "A"),
          Map.entry("campaign", "2"),
          Map.entry("buyer", "b"),
          Map.entry("status", "completed"),
          Map.entry("key", "another"));

  private static @Nullable EveryRoute routes;

  @BeforeAll
  static void fill() throws Exception {
    EveryRoute made = new EveryRoute(server);
    routes = made;
    Client operator = server.operator();
    Map<String, Operation> all = new TreeMap<>();
    made.operations().forEach(one -> all.put(one.toString(), one));
    String campaign = path(all, "GET /v1/campaigns/{id}");
    String account = id(all, "GET /v1/accounts/{id}");
    String other =
        operator
            .post("/v1/accounts", new JsonObject().put("name", "b").put("currency", "EUR"))
            .expect(201)
            .getString("id");
    String queue =
        operator
            .get("/v1/queues")
            .expect(200)
            .getJsonArray("items")
            .getJsonObject(0)
            .getString("name");
    Client shop = server.service();
    for (int i = 0; i < SOME; i++) {
      server.drop(5, null);
      operator
          .post("/v1/keys", new JsonObject().put("role", "service").put("name", "k"))
          .expect(201);
      operator.post(campaign + "/pause", null).expect(200);
      operator.post(campaign + "/resume", null).expect(200);
      shop.post(campaign + "/holds", "h" + i, Client.cart("b", Client.sku("A", 1))).expect(201);
      JsonObject order = Client.order("b", "pm_card_visa", Client.sku("A", 1));
      shop.post(campaign + "/purchases", "p" + i, order).expect(201);
      JsonObject transfer =
          new JsonObject()
              .put("from", account)
              .put("to", other)
              .put("amount", 1)
              .put("currency", "EUR");
      operator.post("/v1/transfers", "t" + i, transfer).expect(201);
      operator
          .post("/v1/accounts", new JsonObject().put("name", "c" + i).put("currency", "EUR"))
          .expect(201);
      schedule(operator, i);
      operator.post("/v1/queues/" + queue + (i % 2 == 0 ? "/pause" : "/resume"), null).expect(200);
      operator
          .put("/v1/streams/stream" + i, new JsonObject().put("sinks", new JsonArray()))
          .expect(200);
      operator
          .put("/v1/streams/letters", new JsonObject().put("sinks", new JsonArray().add(sink(i))))
          .expect(200);
    }
    JsonArray events = new JsonArray();
    IntStream.range(0, 600).forEach(i -> events.add(StreamStage.event("k", "t", i)));
    for (int i = 0; i < 2; i++) {
      operator.send("POST", "/v1/streams/letters/events", events.encode(), Map.of()).expect(201);
    }
    park(1_500);
    server
        .database()
        .execute(
            """
            INSERT INTO lockstep.outbox_audit (actor, action, stream, reason)
            SELECT 'a', 'retry', 'letters', 'r' FROM generate_series(1, 1200)""");
    server
        .database()
        .execute(
            """
            INSERT INTO lockstep_server.payment_mismatch
              (campaign, purchase, intent, kind, amount, currency, detail, noted_at)
            SELECT p.campaign, p.id, 'pi_' || n, 'amount', 1, 'USD', 'd', now()
            FROM (SELECT campaign, id FROM lockstep_server.purchase LIMIT 1) p,
              generate_series(1, 12) n""");
  }

  private static void schedule(Client operator, int i) throws Exception {
    operator
        .post(
            "/v1/schedules",
            new JsonObject()
                .put("name", "s" + i)
                .put("when", new JsonObject().put("at", "2099-01-01T00:00:00Z"))
                .put("deliver", new JsonObject().put("webhook", "http://localhost:1/")))
        .expect(201);
  }

  private static JsonObject sink(int i) {
    return new JsonObject().put("name", i % 2 == 0 ? "out" : "other").put("type", "log");
  }

  private static String path(Map<String, Operation> all, String operation) {
    return Objects.requireNonNull(all.get(operation)).path();
  }

  private static String id(Map<String, Operation> all, String operation) {
    String path = path(all, operation);
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** As a relay that gave up on them leaves them. */
  private static void park(int keys) throws Exception {
    server
        .operator()
        .put("/v1/streams/letters", new JsonObject().put("sinks", new JsonArray().add(sink(0))))
        .expect(200);
    server
        .database()
        .execute(
            """
            INSERT INTO lockstep.outbox_parked (part, sink, key, seq, ord, attempts, error, parked_at)
            SELECT n %% 8, k.id, 'key ' || n, 1, '1', 1, 'e', now()
            FROM lockstep.outbox_sink k JOIN lockstep.outbox_stream s ON s.id = k.stream,
              generate_series(1, %d) n
            WHERE s.name = 'letters' AND k.name = 'out'"""
                .formatted(keys));
  }

  @TestFactory
  Stream<DynamicTest> everyPageIsFullAndEveryItemIsThereOnce() throws Exception {
    return Objects.requireNonNull(routes).operations().stream()
        .filter(one -> one.parameters("query").contains("after"))
        .map(one -> DynamicTest.dynamicTest(one.toString(), () -> walk(one)));
  }

  private static void walk(Operation list) throws Exception {
    List<Object> whole = pages(list, 1_000);
    assertThat(whole).as("items to page through").hasSizeGreaterThan(SOME).doesNotHaveDuplicates();
    for (int limit : whole.size() > 100 ? List.of(999, 250) : List.of(1, 3, whole.size())) {
      assertThat(pages(list, limit)).as("limit %d", limit).isEqualTo(whole);
    }
  }

  /** Names no item of any list. */
  private static final List<String> RUBBISH =
      List.of("\u0000", "a\u0000b", "\n", " ", "0".repeat(2_500) + "\u0000");

  /** An item of some list, or nearly. */
  private static final List<String> PERHAPS =
      List.of(
          "x",
          "0",
          "-1",
          "9223372036854775807",
          "99999999999999999999",
          "0".repeat(2_500),
          "1.1",
          "1-1",
          "99999999999999999-1.00000000-0000-0000-0000-000000000000",
          "00000000-0000-0000-0000-000000000000",
          "2020-01-01T00:00:00Z",
          "2020-01-01T00:00:00Z key",
          "2020-99-01T00:00:00Z key",
          "+999999999-12-31T23:59:59.999999999Z key",
          "-999999999-01-01T00:00:00Z key",
          "2020-01-01T00:00:00Z " + "k".repeat(2_500),
          "\u00e9",
          ",,,,",
          "999999999999999999 key");

  @TestFactory
  Stream<DynamicTest> aCursorThatWasMadeUpIsRefusedOrAPlaceInTheList() throws Exception {
    return Objects.requireNonNull(routes).operations().stream()
        .filter(one -> one.parameters("query").contains("after"))
        .map(one -> DynamicTest.dynamicTest(one.toString(), () -> madeUp(one)));
  }

  private static void madeUp(Operation list) throws Exception {
    for (String item : RUBBISH) {
      after(list, item).expectProblem(400, "invalid-request");
    }
    for (String item : PERHAPS) {
      Client.Reply reply = after(list, item);
      if (reply.status() != 200) {
        reply.expectProblem(400, "invalid-request");
      }
    }
  }

  /** With the check sum that anybody can compute. */
  private static Client.Reply after(Operation list, String item) throws Exception {
    CRC32 sum = new CRC32();
    String filters = NARROWED.getOrDefault(list.template(), "");
    String name =
        filters.isEmpty()
            ? list.path()
            : list.path() + "?" + filters.substring(0, filters.length() - 1);
    sum.update((name + "\0" + item).getBytes(UTF_8));
    byte[] text = item.getBytes(UTF_8);
    byte[] cursor =
        ByteBuffer.allocate(4 + text.length).putInt((int) sum.getValue()).put(text).array();
    return server
        .operator()
        .get(
            list.path()
                + "?"
                + filters
                + "after="
                + Base64.getUrlEncoder().withoutPadding().encodeToString(cursor));
  }

  @TestFactory
  Stream<DynamicTest> aPlaceInTheListOfOneThingIsRefusedInTheListOfAnother() throws Exception {
    String campaign = "/v1/campaigns/" + server.drop(5, null);
    Map<String, String> others =
        Map.of(
            "/v1/campaigns/{id}/audit",
            campaign + "/audit?",
            "/v1/campaigns/{id}/actions",
            campaign + "/actions?",
            "/v1/streams/{stream}/actions",
            "/v1/streams/stream0/actions?",
            "/v1/streams/{stream}/events",
            "/v1/streams/stream0/events?key=k&");
    return Objects.requireNonNull(routes).operations().stream()
        .filter(one -> one.parameters("query").contains("after"))
        .filter(one -> others.containsKey(one.template()))
        .map(
            one ->
                DynamicTest.dynamicTest(
                    one.toString(), () -> elsewhere(one, others.get(one.template()))));
  }

  @TestFactory
  Stream<DynamicTest> aPlaceInAListIsRefusedUnderAnotherFilter() throws Exception {
    return Objects.requireNonNull(routes).operations().stream()
        .filter(one -> one.parameters("query").contains("after"))
        .flatMap(
            list ->
                list.parameters("query").stream()
                    .filter(FILTERS::containsKey)
                    .map(
                        filter ->
                            DynamicTest.dynamicTest(
                                list + " by " + filter,
                                () ->
                                    elsewhere(
                                        list,
                                        list.path() + "?" + filtered(list.template(), filter)))));
  }

  /** What narrows the list, with another value of this filter. */
  private static String filtered(String template, String filter) {
    String others =
        Stream.of(NARROWED.getOrDefault(template, "").split("&", -1))
            .filter(one -> !one.isEmpty() && !one.startsWith(filter + "="))
            .map(one -> one + "&")
            .collect(Collectors.joining());
    return others + filter + "=" + FILTERS.get(filter) + "&";
  }

  private static void elsewhere(Operation list, @Nullable String other) throws Exception {
    String path = list.path() + "?" + NARROWED.getOrDefault(list.template(), "") + "limit=1";
    String next = server.operator().get(path).expect(200).getString("next");
    server.operator().get(path + "&after=" + next).expect(200);
    JsonObject problem =
        server.operator().get(other + "after=" + next).expectProblem(400, "invalid-request");
    assertThat(problem.getString("field")).isEqualTo("after");
  }

  private static List<Object> pages(Operation list, int limit) throws Exception {
    List<Object> items = new ArrayList<>();
    String path = list.path() + "?" + NARROWED.getOrDefault(list.template(), "") + "limit=" + limit;
    @Nullable String next = null;
    do {
      JsonObject page =
          server.operator().get(path + (next == null ? "" : "&after=" + next)).expect(200);
      next = page.getString("next");
      JsonArray found = page.getJsonArray("items");
      assertThat(found.size())
          .as("a page that is not the last")
          .matches(n -> n == limit || page.getString("next") == null);
      found.forEach(one -> items.add(standing((JsonObject) one)));
    } while (next != null);
    return items;
  }

  /** Without what changes while one looks. */
  private static JsonObject standing(JsonObject item) {
    JsonObject copy = item.copy();
    copy.remove("sinks");
    return copy;
  }

  /** Keys behind the cursor go, keys on both sides of it come: those that stay are there once. */
  @Test
  void noKeyIsMissedOrDoubledWhileKeysComeAndGo() throws Exception {
    String path = "/v1/streams/letters/sinks/out/keys?limit=200";
    List<String> seen = new ArrayList<>();
    @Nullable String next = null;
    for (int round = 0; round == 0 || next != null; round++) {
      JsonObject page =
          server.operator().get(path + (next == null ? "" : "&after=" + next)).expect(200);
      List<String> keys =
          page.getJsonArray("items").stream()
              .map(one -> ((JsonObject) one).getString("key"))
              .toList();
      seen.addAll(keys);
      next = page.getString("next");
      server
          .database()
          .execute(
              "DELETE FROM lockstep.outbox_parked WHERE key = '" + keys.get(keys.size() - 1) + "'");
      server
          .database()
          .execute(
              """
              INSERT INTO lockstep.outbox_parked (part, sink, key, seq, ord, attempts, error, parked_at)
              SELECT 1, sink, 'a new %d ' || n, 1, '1', 1, 'e', now()
              FROM (SELECT DISTINCT sink FROM lockstep.outbox_parked) s, generate_series(1, 50) n"""
                  .formatted(round));
    }
    assertThat(seen)
        .doesNotHaveDuplicates()
        .containsAll(IntStream.rangeClosed(1, 1_500).mapToObj(n -> "key " + n).toList());
  }
}
