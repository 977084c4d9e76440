package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every route with every role. The table is written out: what it says is the contract. */
@Timeout(120)
class RolesTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final String ANYONE = "anyone operator service buyer visitor";
  private static final String OPERATOR = "operator";
  private static final String BUYER = "buyer visitor";
  private static final String SELLERS = "operator service";
  private static final String WITH_KEY = "operator service buyer visitor";

  /** Route, and who gets past the door. */
  private static final Map<String, String> TABLE =
      Map.ofEntries(
          Map.entry("POST /v1/keys", OPERATOR),
          Map.entry("GET /healthz", ANYONE),
          Map.entry("GET /readyz", ANYONE),
          Map.entry("GET /metrics", ANYONE),
          Map.entry("GET /v1/keys", OPERATOR),
          Map.entry("GET /v1/keys/{id}", OPERATOR),
          Map.entry("DELETE /v1/keys/{id}", OPERATOR),
          Map.entry("POST /v1/campaigns", OPERATOR),
          Map.entry("GET /v1/campaigns", ANYONE),
          Map.entry("GET /v1/campaigns/{id}", ANYONE),
          Map.entry("POST /v1/campaigns/{id}/publish", OPERATOR),
          Map.entry("POST /v1/campaigns/{id}/pause", OPERATOR),
          Map.entry("POST /v1/campaigns/{id}/resume", OPERATOR),
          Map.entry("POST /v1/campaigns/{id}/close", OPERATOR),
          Map.entry("GET /v1/campaigns/{id}/positions", ANYONE),
          Map.entry("GET /v1/campaigns/{id}/live", ANYONE),
          Map.entry("GET /v1/campaigns/{id}/draw", ANYONE),
          Map.entry("GET /v1/campaigns/{id}/audit", OPERATOR),
          Map.entry("GET /v1/campaigns/{id}/actions", OPERATOR),
          Map.entry("GET /v1/visitor", ANYONE),
          Map.entry("POST /v1/visitor", ANYONE),
          Map.entry("DELETE /v1/visitor", BUYER),
          Map.entry("GET /v1/holds", OPERATOR),
          Map.entry("POST /v1/campaigns/{id}/holds", WITH_KEY),
          Map.entry("GET /v1/holds/{id}", WITH_KEY),
          Map.entry("PUT /v1/holds/{id}", WITH_KEY),
          Map.entry("POST /v1/holds/{id}/extend", WITH_KEY),
          Map.entry("DELETE /v1/holds/{id}", WITH_KEY),
          Map.entry("POST /v1/campaigns/{id}/purchases", WITH_KEY),
          Map.entry("POST /v1/holds/{id}/checkout", WITH_KEY),
          Map.entry("GET /v1/purchases", WITH_KEY),
          Map.entry("GET /v1/purchases/{id}", WITH_KEY),
          Map.entry("DELETE /v1/purchases/{id}", WITH_KEY),
          Map.entry("POST /v1/purchases/{id}/pay", WITH_KEY),
          Map.entry("POST /v1/purchases/{id}/refund", OPERATOR),
          Map.entry("POST /v1/purchases/{id}/authenticate", WITH_KEY),
          Map.entry("POST /v1/webhooks/stripe", ANYONE),
          Map.entry("GET /v1/payments/mismatches", OPERATOR),
          Map.entry("GET /v1/reconciliation", OPERATOR),
          Map.entry("GET /v1/lab/scenarios", ANYONE),
          Map.entry("POST /v1/lab/scenarios/{id}/runs", ANYONE),
          Map.entry("POST /v1/accounts", SELLERS),
          Map.entry("GET /v1/accounts", SELLERS),
          Map.entry("GET /v1/accounts/{id}", SELLERS),
          Map.entry("GET /v1/accounts/{id}/entries", SELLERS),
          Map.entry("GET /v1/accounts/{id}/statement", SELLERS),
          Map.entry("GET /v1/trial-balance", SELLERS),
          Map.entry("POST /v1/transfers", SELLERS),
          Map.entry("GET /v1/transfers/{id}", SELLERS),
          Map.entry("POST /v1/transfers/{id}/post", SELLERS),
          Map.entry("POST /v1/transfers/{id}/void", SELLERS),
          Map.entry("POST /v1/schedules", SELLERS),
          Map.entry("GET /v1/schedules", SELLERS),
          Map.entry("POST /v1/schedules/preview", SELLERS),
          Map.entry("GET /v1/schedules/{id}", SELLERS),
          Map.entry("PATCH /v1/schedules/{id}", SELLERS),
          Map.entry("DELETE /v1/schedules/{id}", SELLERS),
          Map.entry("GET /v1/schedules/{id}/preview", SELLERS),
          Map.entry("GET /v1/webhooks/secret", OPERATOR),
          Map.entry("GET /v1/jobs", OPERATOR),
          Map.entry("GET /v1/jobs/{id}", OPERATOR),
          Map.entry("POST /v1/jobs/{id}/retry", OPERATOR),
          Map.entry("POST /v1/jobs/{id}/cancel", OPERATOR),
          Map.entry("POST /v1/jobs/retry", OPERATOR),
          Map.entry("POST /v1/jobs/cancel", OPERATOR),
          Map.entry("GET /v1/job-actions", OPERATOR),
          Map.entry("GET /v1/queues", OPERATOR),
          Map.entry("POST /v1/queues/{queue}/pause", OPERATOR),
          Map.entry("POST /v1/queues/{queue}/resume", OPERATOR),
          Map.entry("POST /v1/queues/{queue}/limit", OPERATOR),
          Map.entry("POST /v1/queues/{queue}/jobs", SELLERS),
          Map.entry("POST /v1/queues/{queue}/claims", SELLERS),
          Map.entry("POST /v1/claims/{token}/heartbeat", SELLERS),
          Map.entry("POST /v1/claims/{token}/complete", SELLERS),
          Map.entry("POST /v1/claims/{token}/retry", SELLERS),
          Map.entry("POST /v1/claims/{token}/dead", SELLERS),
          Map.entry("PUT /v1/streams/{stream}", OPERATOR),
          Map.entry("GET /v1/streams", SELLERS),
          Map.entry("GET /v1/streams/{stream}", SELLERS),
          Map.entry("POST /v1/streams/{stream}/events", SELLERS),
          Map.entry("GET /v1/streams/{stream}/events", SELLERS),
          Map.entry("GET /v1/streams/{stream}/actions", OPERATOR),
          Map.entry("GET /v1/streams/{stream}/sinks/{sink}/keys", OPERATOR),
          Map.entry("POST /v1/streams/{stream}/sinks/{sink}/keys/{key}/retry", OPERATOR),
          Map.entry("POST /v1/streams/{stream}/sinks/{sink}/keys/{key}/skip", OPERATOR),
          Map.entry("POST /v1/streams/{stream}/sinks/{sink}/retry", OPERATOR),
          Map.entry("POST /v1/streams/{stream}/sinks/{sink}/skip", OPERATOR),
          Map.entry("POST /v1/streams/{stream}/sinks/{sink}/replay", OPERATOR),
          Map.entry("GET /v1/relays", OPERATOR),
          Map.entry("GET /v1/database", OPERATOR),
          Map.entry("GET /v1/invariants", OPERATOR),
          Map.entry("POST /v1/invariants/check", OPERATOR));

  @TestFactory
  Stream<DynamicTest> everyRouteLetsInWhoItShould() {
    return TABLE.keySet().stream()
        .sorted()
        .map(route -> DynamicTest.dynamicTest(route, () -> check(route)));
  }

  /** A new route fails here until somebody has decided who may use it. */
  @Test
  void theTableNamesEveryRoute() throws Exception {
    JsonObject paths = server.anyone().get("/openapi.json").expect(200).getJsonObject("paths");
    Set<String> served = new TreeSet<>();
    for (String path : paths.fieldNames()) {
      paths
          .getJsonObject(path)
          .fieldNames()
          .forEach(method -> served.add(method.toUpperCase(Locale.ROOT) + " " + path));
    }
    assertThat(served).isEqualTo(new TreeSet<>(TABLE.keySet()));
  }

  private static void check(String route) throws Exception {
    server.passSeconds(10);
    List<String> allowed = List.of(TABLE.getOrDefault(route, "").split(" "));
    List<String> let = new ArrayList<>();
    for (Map.Entry<String, Client> caller : callers().entrySet()) {
      int status = call(caller.getValue(), route);
      // A visitor's cookie is no key where buyers have no business.
      boolean without = Set.of("anyone", "visitor").contains(caller.getKey());
      if (without && !allowed.contains(caller.getKey())) {
        assertThat(status).as(caller.getKey()).isEqualTo(401);
      } else if (!allowed.contains(caller.getKey())) {
        assertThat(status).as(caller.getKey()).isEqualTo(403);
      }
      if (status != 401 && status != 403) {
        let.add(caller.getKey());
      }
      // A key that nobody issued opens nothing, not even what needs none. Probes look at no key.
      Client stranger = new Client(server.url(), Optional.of("lsk_nobody"));
      assertThat(call(stranger, route)).isEqualTo(route.contains(" /v1/") ? 401 : 200);
    }
    assertThat(let).containsExactlyInAnyOrderElementsOf(allowed);
  }

  private static Map<String, Client> callers() throws Exception {
    return Map.of(
        "anyone", server.anyone(),
        "operator", server.operator(),
        "service", server.service(),
        "buyer", server.buyer("somebody"),
        "visitor", server.visitor());
  }

  /** Well formed where a door is passed, and about things that do not exist: nothing is changed. */
  private static int call(Client client, String route) throws Exception {
    String method = route.substring(0, route.indexOf(' '));
    String path = route.substring(route.indexOf(' ') + 1).replaceAll("\\{[a-z]+}", "999999");
    String body =
        switch (route) {
          case "POST /v1/keys", "POST /v1/campaigns", "POST /v1/accounts", "POST /v1/transfers" ->
              "{}";
          case "POST /v1/schedules" -> "{}";
          case "POST /v1/schedules/preview", "PATCH /v1/schedules/{id}" -> "{}";
          case "PUT /v1/streams/{stream}", "POST /v1/streams/{stream}/events" -> "{}";
          case "POST /v1/jobs/retry", "POST /v1/jobs/cancel" -> "{}";
          case "POST /v1/queues/{queue}/jobs" -> "{}";
          case "POST /v1/queues/{queue}/limit" -> "{\"perSecond\":1}";
          case "POST /v1/campaigns/{id}/holds" -> new JsonObject().put("items", items()).encode();
          case "POST /v1/campaigns/{id}/purchases" ->
              new JsonObject().put("items", items()).put("paymentMethod", "pm_card_visa").encode();
          case "POST /v1/holds/{id}/checkout" ->
              new JsonObject().put("paymentMethod", "pm_card_visa").encode();
          case "POST /v1/purchases/{id}/authenticate" -> "{\"approved\":true}";
          case "POST /v1/purchases/{id}/pay" -> "{\"paymentMethod\":\"pm_card_visa\"}";
          case "PUT /v1/holds/{id}" -> new JsonObject().put("items", items()).encode();
          default -> null;
        };
    return client.send(method, path, body, Map.of("Idempotency-Key", "roles")).status();
  }

  private static JsonArray items() {
    return new JsonArray().add(Client.sku("A", 1));
  }
}
