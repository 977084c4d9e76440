package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The ledger over HTTP: accounts, transfers at once and in two phases, alone and linked. */
@Timeout(120)
class LedgerApiTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final String ROWS =
      """
      SELECT (SELECT count(*) FROM lockstep.account) + (SELECT count(*) FROM lockstep.transfer)
        + (SELECT count(*) FROM lockstep.entry)""";

  @Test
  void moneyMovesAndEverythingSaysSo() throws Exception {
    Client operator = server.operator();
    String world = open("world", null);
    String ann = open("Ann", 0L);
    Client.Reply made = operator.post("/v1/transfers", "pay-ann", transfer(world, ann, 500));
    JsonObject transfer = made.expect(201);

    assertThat(made.header("Location")).hasValue("/v1/transfers/" + transfer.getString("id"));
    assertThat(transfer.getString("state")).isEqualTo("posted");
    assertThat(operator.get("/v1/transfers/" + transfer.getString("id")).expect(200))
        .isEqualTo(transfer);
    JsonObject account = account(ann);
    assertThat(account.getLong("balance")).isEqualTo(500);
    assertThat(account.getLong("pending")).isZero();
    assertThat(account.getLong("version")).isEqualTo(1);
    JsonArray entries =
        operator.get("/v1/accounts/" + ann + "/entries").expect(200).getJsonArray("items");
    assertThat(entries).hasSize(1);
    assertThat(entries.getJsonObject(0).getLong("balance")).isEqualTo(500);
    assertThat(
            operator
                .get(
                    "/v1/accounts/"
                        + ann
                        + "/statement?to="
                        + entries.getJsonObject(0).getString("at"))
                .expect(200)
                .getLong("closing"))
        .isEqualTo(500);
    for (Object currency : operator.get("/v1/trial-balance").expect(200).getJsonArray("items")) {
      assertThat(((JsonObject) currency).getString("difference")).isEqualTo("0");
    }
  }

  @Test
  void anAccountCannotFallBelowItsFloorAndARefusalIsRepeatedWordForWord() throws Exception {
    Client operator = server.operator();
    String world = open("world", null);
    String ann = open("Ann", 0L);
    operator.post("/v1/transfers", "floor-1", transfer(world, ann, 100)).expect(201);

    Client.Reply refused = operator.post("/v1/transfers", "floor-2", transfer(ann, world, 101));
    JsonObject problem = refused.expectProblem(409, "insufficient-funds");

    assertThat(problem.getString("account")).isEqualTo(ann);
    assertThat(problem.getLong("available")).isEqualTo(100);
    assertThat(problem.getLong("asked")).isEqualTo(101);
    operator.post("/v1/transfers", "floor-3", transfer(world, ann, 100)).expect(201);
    Client.Reply again = operator.post("/v1/transfers", "floor-2", transfer(ann, world, 101));
    again.expectProblem(409, "insufficient-funds");
    assertThat(again.replayed()).isTrue();
    assertThat(account(ann).getLong("balance")).isEqualTo(200);
  }

  @Test
  void ofManyTwinsOneMovesMoneyAndAllAreToldTheSame() throws Exception {
    String world = open("world", null);
    String ann = open("Ann", 0L);
    Client operator = server.operator();

    List<Client.Reply> replies =
        Race.<Client.Reply>of(12)
            .run(i -> operator.post("/v1/transfers", "twins", transfer(world, ann, 7)))
            .valuesOrThrow();

    JsonObject first = replies.get(0).expect(201);
    assertThat(replies).allSatisfy(reply -> assertThat(reply.expect(201)).isEqualTo(first));
    assertThat(replies).filteredOn(reply -> !reply.replayed()).hasSize(1);
    assertThat(account(ann).getLong("balance")).isEqualTo(7);
    operator
        .post("/v1/transfers", "twins", transfer(world, ann, 8))
        .expectProblem(422, "idempotency-key-reused");
    operator
        .post("/v1/transfers", transfer(world, ann, 8))
        .expectProblem(400, "idempotency-key-missing");
  }

  @Test
  void aPendingTransferIsPostedInPartOrVoidedOrExpires() throws Exception {
    Client operator = server.operator();
    String world = open("world", null);
    String ann = open("Ann", 0L);
    operator.post("/v1/transfers", "two-0", transfer(world, ann, 100)).expect(201);

    String first = pending("two-1", ann, world, 60);
    assertThat(account(ann).getLong("pending")).isEqualTo(60);
    assertThat(account(ann).getLong("available")).isEqualTo(40);
    operator
        .post("/v1/transfers/" + first + "/post", "two-2", new JsonObject().put("amount", 61))
        .expectProblem(409, "beyond-reserved");
    JsonObject part = new JsonObject().put("amount", 25);
    JsonObject posted =
        operator.post("/v1/transfers/" + first + "/post", "two-3", part).expect(200);
    assertThat(posted.getString("state")).isEqualTo("posted");
    assertThat(posted.getLong("posted")).isEqualTo(25);
    assertThat(operator.post("/v1/transfers/" + first + "/post", "two-3", part).replayed())
        .isTrue();
    operator
        .post("/v1/transfers/" + first + "/void", "two-4", null)
        .expectProblem(409, "transfer-not-pending");

    String second = pending("two-5", ann, world, 75);
    assertThat(
            operator
                .post("/v1/transfers/" + second + "/void", "two-6", null)
                .expect(200)
                .getString("state"))
        .isEqualTo("voided");
    JsonObject soon = transfer(ann, world, 75).put("pending", true).put("expiresSeconds", 1);
    String third = operator.post("/v1/transfers", "two-7", soon).expect(201).getString("id");
    Await.until(
        "the reservation expires",
        () ->
            operator
                .get("/v1/transfers/" + third)
                .expect(200)
                .getString("state")
                .equals("expired"));
    JsonObject after = account(ann);
    assertThat(after.getLong("balance")).isEqualTo(75);
    assertThat(after.getLong("pending")).isZero();
  }

  @Test
  void linkedTransfersHappenAllOrNone() throws Exception {
    Client operator = server.operator();
    String world = open("world", null);
    String ann = open("Ann", 0L);
    String shop = open("shop", 0L);

    JsonObject problem =
        operator
            .post(
                "/v1/transfers",
                "linked-1",
                linked(transfer(world, ann, 10), transfer(ann, shop, 11)))
            .expectProblem(409, "insufficient-funds");
    assertThat(problem.getInteger("step")).isEqualTo(1);
    assertThat(account(ann).getLong("version")).isZero();

    JsonObject done =
        operator
            .post(
                "/v1/transfers",
                "linked-2",
                linked(transfer(world, ann, 10), transfer(ann, shop, 10)))
            .expect(201);
    assertThat(done.getJsonArray("transfers")).hasSize(2);
    assertThat(account(shop).getLong("balance")).isEqualTo(10);
  }

  @Test
  void aCampaignsBookIsForOperatorsToWrite() throws Exception {
    String campaign = server.drop(5, null);
    JsonObject payouts =
        new JsonObject().put("name", "payouts").put("currency", "JPY").put("campaign", campaign);

    server.service().post("/v1/accounts", payouts).expectProblem(403, "forbidden");
    JsonObject opened = server.operator().post("/v1/accounts", payouts).expect(201);
    assertThat(opened.getString("campaign")).isEqualTo(campaign);
    server
        .service()
        .post("/v1/transfers", "theirs", transfer(opened.getString("id"), campaign + ".2", 1))
        .expectProblem(403, "forbidden");
    server
        .operator()
        .post("/v1/transfers", "across", transfer(opened.getString("id"), open("x", null), 1))
        .expectProblem(400, "invalid-request");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      textBlock =
          """
          /v1/accounts  | {}                                                             | 400 | invalid-request
          /v1/accounts  | {"name":"x","currency":"jpy"}                                  | 400 | invalid-request
          /v1/accounts  | {"name":" ","currency":"JPY"}                                  | 400 | invalid-request
          /v1/accounts  | {"name":"x","currency":"JPY","floor":1}                        | 400 | invalid-request
          /v1/accounts  | {"name":"x","currency":"JPY","floor":-1.5}                     | 400 | invalid-request
          /v1/accounts  | {"name":"x","currency":"JPY","surprise":1}                     | 400 | unknown-field
          /v1/accounts  | {"name":"x","currency":"JPY","campaign":"a"}                   | 400 | invalid-request
          /v1/transfers | {}                                                             | 400 | invalid-request
          /v1/transfers | []                                                             | 400 | malformed-json
          /v1/transfers | {"from":"$A","to":"$A","amount":1,"currency":"JPY"}            | 400 | invalid-request
          /v1/transfers | {"from":"$A","to":"$B","amount":0,"currency":"JPY"}            | 400 | invalid-request
          /v1/transfers | {"from":"$A","to":"$B","amount":-1,"currency":"JPY"}           | 400 | invalid-request
          /v1/transfers | {"from":"$A","to":"$B","amount":1.5,"currency":"JPY"}          | 400 | invalid-request
          /v1/transfers | {"from":"$A","to":"$B","amount":9223372036854775808,"currency":"JPY"} | 400 | invalid-request
          /v1/transfers | {"from":"$A","to":"$B","amount":1,"currency":"jpy"}            | 400 | invalid-request
          /v1/transfers | {"from":"$A","to":"$B","amount":1,"currency":"JPY","expiresSeconds":5} | 400 | invalid-request
          /v1/transfers | {"from":"$A","to":"$B","amount":1,"currency":"JPY","pending":true,"expiresSeconds":0} | 400 | invalid-request
          /v1/transfers | {"transfers":[]}                                               | 400 | invalid-request
          /v1/transfers | {"from":"$A","to":"$B","amount":1,"currency":"USD"}            | 422 | currency-mismatch
          /v1/transfers | {"from":"$A","to":"0.999999","amount":1,"currency":"JPY"}      | 404 | not-found
          /v1/transfers | {"from":"nobody","to":"$B","amount":1,"currency":"JPY"}        | 404 | not-found
          /v1/transfers | {"from":"$A","to":"$R","amount":9223372036854775807,"currency":"JPY"} | 409 | balance-overflow
          /v1/transfers/0.00000000-0000-0000-0000-000000000001/post | -                  | 404 | not-found
          /v1/transfers/nothing/void | -                                                 | 404 | not-found
          """)
  void badInputIsRefusedPreciselyAndNothingChanges(
      String path, @Nullable String body, int status, String slug) throws Exception {
    String a = open("a", null);
    String b = open("b", 0L);
    String rich = open("rich", null);
    server.operator().post("/v1/transfers", "rich-" + rich, transfer(a, rich, 1)).expect(201);
    long before = server.database().queryLong(ROWS);
    String sent = body == null ? null : body.replace("$A", a).replace("$B", b).replace("$R", rich);

    server
        .operator()
        .send("POST", path, sent, Map.of("Idempotency-Key", "bad-" + a))
        .expectProblem(status, slug);

    assertThat(server.database().queryLong(ROWS)).isEqualTo(before);
  }

  @Test
  void accountsAndEntriesArePaged() throws Exception {
    String world = open("world", null);
    String ann = open("Ann", 0L);
    for (int i = 0; i < 5; i++) {
      server.operator().post("/v1/transfers", "page-" + i, transfer(world, ann, 1)).expect(201);
    }
    JsonObject first =
        server.operator().get("/v1/accounts/" + ann + "/entries?limit=3").expect(200);
    JsonObject rest =
        server
            .operator()
            .get("/v1/accounts/" + ann + "/entries?limit=3&after=" + first.getString("next"))
            .expect(200);

    assertThat(first.getJsonArray("items")).hasSize(3);
    assertThat(rest.getJsonArray("items")).hasSize(2);
    assertThat(rest.getValue("next")).isNull();
    assertThat(rest.getJsonArray("items").getJsonObject(1).getLong("version")).isEqualTo(5);
    assertThat(server.operator().get("/v1/accounts?limit=1").expect(200).getString("next"))
        .isNotNull();
    server.operator().get("/v1/accounts/0.999999").expectProblem(404, "not-found");
  }

  private static String pending(String key, String from, String to, long amount) throws Exception {
    JsonObject body = transfer(from, to, amount).put("pending", true);
    JsonObject made = server.operator().post("/v1/transfers", key, body).expect(201);
    assertThat(made.getString("state")).isEqualTo("pending");
    return made.getString("id");
  }

  private static JsonObject account(String id) throws Exception {
    return server.operator().get("/v1/accounts/" + id).expect(200);
  }

  private static String open(String name, @Nullable Long floor) throws Exception {
    return server
        .operator()
        .post(
            "/v1/accounts",
            new JsonObject().put("name", name).put("currency", "JPY").put("floor", floor))
        .expect(201)
        .getString("id");
  }

  private static JsonObject transfer(String from, String to, long amount) {
    return new JsonObject()
        .put("from", from)
        .put("to", to)
        .put("amount", amount)
        .put("currency", "JPY");
  }

  private static JsonObject linked(JsonObject... transfers) {
    return new JsonObject().put("transfers", new JsonArray(List.of(transfers)));
  }
}
