package dev.lockstep.server;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The operations of a running server, as its OpenAPI document tells them, each with the path of
 * something that is there; and the number of rows that every table has.
 */
final class EveryRoute {
  /** What changes by itself while a server runs. */
  private static final Set<String> BUSY =
      Set.of(
          "job",
          "shard",
          "duty",
          "invariant",
          "reconciliation",
          "provider",
          "gateway",
          "outbox_cursor",
          "outbox_home",
          "outbox_segment",
          "audit_mark",
          "ledger_mark",
          // A batch in which everything was refused leaves its mark, too.
          "batch_mark");

  private final RunningServer server;
  private final Client buyer;
  private final Map<String, String> things = new TreeMap<>();

  /**
   * One operation.
   *
   * @param path of something that exists
   * @param roles who may; empty: anyone
   */
  record Operation(
      String method, String template, String path, Set<String> roles, JsonObject told) {
    Optional<JsonObject> body() {
      return Optional.ofNullable(told.getJsonObject("requestBody"))
          .map(body -> body.getJsonObject("content").getJsonObject("application/json"))
          .map(content -> content.getJsonObject("schema"));
    }

    List<String> parameters(String in) {
      return told.getJsonArray("parameters").stream()
          .map(JsonObject.class::cast)
          .filter(one -> one.getString("in").equals(in))
          .map(one -> one.getString("name"))
          .toList();
    }

    @Override
    public String toString() {
      return method + " " + template;
    }
  }

  /** Makes one of everything that a path can name. */
  EveryRoute(RunningServer server) throws Exception {
    this.server = server;
    Client operator = server.operator();
    String campaign = server.drop(1_000, null);
    buyer = server.buyer("mine");
    JsonObject cart = new JsonObject().put("items", new JsonArray().add(Client.sku("A", 1)));
    JsonObject order = cart.copy().put("paymentMethod", "pm_card_visa");
    things.put("campaigns", campaign);
    things.put(
        "holds", id(buyer.post("/v1/campaigns/" + campaign + "/holds", "h", cart).expect(201)));
    things.put(
        "purchases",
        id(buyer.post("/v1/campaigns/" + campaign + "/purchases", "p", order).expect(201)));
    things.put(
        "keys",
        id(
            operator
                .post("/v1/keys", new JsonObject().put("role", "service").put("name", "one"))
                .expect(201)));
    JsonObject account =
        new JsonObject().put("name", "a").put("currency", "EUR").put("floor", null);
    String from = id(operator.post("/v1/accounts", account).expect(201));
    String to = id(operator.post("/v1/accounts", account).expect(201));
    things.put("accounts", from);
    things.put("transfers", id(transfer(operator, from, to)));
    things.put("schedules", id(schedule(operator)));
    operator
        .put(
            "/v1/streams/letters",
            new JsonObject()
                .put(
                    "sinks",
                    new JsonArray().add(new JsonObject().put("name", "out").put("type", "log"))))
        .expect(200);
    things.put("{stream}", "letters");
    things.put("{sink}", "out");
    things.put("{key}", "k");
    things.put("{queue}", "default");
    Workbench bench = new Workbench(operator, "packing");
    bench.enqueue(Workbench.job(1));
    things.put("{token}", bench.claimOne().getString("token"));
    JsonArray jobs = operator.get("/v1/jobs").expect(200).getJsonArray("items");
    things.put("jobs", id(jobs.getJsonObject(0)));
    JsonArray stories = operator.get("/v1/lab/scenarios").expect(200).getJsonArray("items");
    things.put("scenarios", id(stories.getJsonObject(0)));
  }

  /** The key of somebody who may. */
  String keyFor(Operation operation) {
    boolean operators = operation.roles().isEmpty() || operation.roles().contains("operator");
    server.passSeconds(operators ? 0 : 1);
    return operators ? RunningServer.OPERATOR_KEY : buyer.key().orElseThrow();
  }

  private static JsonObject transfer(Client operator, String from, String to) throws Exception {
    return operator
        .post(
            "/v1/transfers",
            "t",
            new JsonObject()
                .put("from", from)
                .put("to", to)
                .put("amount", 5)
                .put("currency", "EUR")
                .put("pending", true))
        .expect(201);
  }

  private static JsonObject schedule(Client operator) throws Exception {
    return operator
        .post(
            "/v1/schedules",
            new JsonObject()
                .put("name", "s")
                .put("when", new JsonObject().put("at", "2099-01-01T00:00:00Z"))
                .put("deliver", new JsonObject().put("webhook", "http://localhost:1/")))
        .expect(201);
  }

  private static String id(JsonObject made) {
    return made.getString("id");
  }

  /** Those of the API; probes take nothing. */
  List<Operation> operations() throws Exception {
    JsonObject paths = server.anyone().get("/openapi.json").expect(200).getJsonObject("paths");
    List<Operation> all = new ArrayList<>();
    for (String path : paths.fieldNames()) {
      JsonObject methods = paths.getJsonObject(path);
      for (String method : methods.fieldNames()) {
        if (path.startsWith("/v1/")) {
          JsonObject told = methods.getJsonObject(method);
          all.add(
              new Operation(
                  method.toUpperCase(Locale.ROOT), path, concrete(path), roles(told), told));
        }
      }
    }
    return all;
  }

  private static Set<String> roles(JsonObject told) {
    String text = told.getString("description", "");
    return text.startsWith("For keys of role ")
        ? Arrays.stream(text.substring("For keys of role ".length(), text.indexOf('.')).split(", "))
            .collect(Collectors.toCollection(TreeSet::new))
        : Set.of();
  }

  /** With the ids of what is there. */
  private String concrete(String template) {
    String[] words = template.split("/", -1);
    for (int i = 1; i < words.length; i++) {
      if (words[i].startsWith("{")) {
        String name = words[i].equals("{id}") ? words[i - 1] : words[i];
        String thing = things.get(name);
        if (thing == null) {
          throw new IllegalStateException("Make one of these for the test: " + template);
        }
        words[i] = thing;
      }
    }
    return String.join("/", words);
  }

  /** By table, but for those that change by themselves. */
  Map<String, Long> rows() throws Exception {
    try (Connection connection = server.database().dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      List<String> counts = new ArrayList<>();
      try (ResultSet row =
          statement.executeQuery(
              """
              SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname), c.relname
              FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
              WHERE n.nspname IN ('lockstep', 'lockstep_server') AND c.relkind IN ('r', 'p')
                AND NOT c.relispartition""")) {
        while (row.next()) {
          String table = row.getString(2);
          if (BUSY.stream().noneMatch(table::startsWith)) {
            String name = row.getString(1);
            counts.add("SELECT '" + name + "', count(*) FROM " + name);
          }
        }
      }
      Map<String, Long> rows = new TreeMap<>();
      try (ResultSet row = statement.executeQuery(String.join(" UNION ALL ", counts))) {
        while (row.next()) {
          rows.put(row.getString(1), row.getLong(2));
        }
      }
      return rows;
    }
  }
}
