package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Keys: shown once, kept hashed, expiring, revocable, rate limited. */
@Timeout(120)
class KeysApiTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final String ALICE_HOLD = "/v1/holds/1.00000000-0000-8000-8000-000000000000";

  @Test
  void aKeyIsShownOnceAndKeptAsItsHash() throws Exception {
    JsonObject made = server.operator().post("/v1/keys", serviceKey()).expect(201);
    String key = made.getString("key");
    String id = made.getString("id");

    JsonObject shown = server.operator().get("/v1/keys/" + id).expect(200);

    assertThat(shown.containsKey("key")).isFalse();
    assertThat(key).startsWith(shown.getString("prefix")).hasSizeGreaterThan(40);
    byte[] hash = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
    assertThat(
            server
                .database()
                .queryLong(
                    "SELECT count(*) FROM lockstep_server.api_key WHERE id = ? AND hash = ?"
                        + " AND NOT to_jsonb(api_key)::text LIKE ?",
                    id,
                    hash,
                    "%" + key + "%"))
        .isEqualTo(1);
  }

  @Test
  void aRevokedKeyIsRefusedAtOnceAndForGood() throws Exception {
    JsonObject made = server.operator().post("/v1/keys", serviceKey()).expect(201);
    Client shop = new Client(server.url(), Optional.of(made.getString("key")));
    shop.get(ALICE_HOLD).expectProblem(404, "not-found");

    String path = "/v1/keys/" + made.getString("id");
    JsonObject revoked = server.operator().delete(path).expect(200);

    shop.get(ALICE_HOLD).expectProblem(401, "unauthorized");
    assertThat(server.operator().delete(path).expect(200)).isEqualTo(revoked);
    server.operator().delete("/v1/keys/key_nobody").expectProblem(404, "not-found");
  }

  @Test
  void anExpiredKeyIsRefused() throws Exception {
    Instant soon = Instant.now().plus(1, ChronoUnit.SECONDS);
    JsonObject made =
        server
            .operator()
            .post("/v1/keys", serviceKey().put("expiresAt", soon.toString()))
            .expect(201);
    server.database().execute("SELECT pg_sleep_until('" + soon + "')");

    new Client(server.url(), Optional.of(made.getString("key")))
        .get(ALICE_HOLD)
        .expectProblem(401, "unauthorized");
  }

  @Test
  void aKeyExpiresInAYearOfFourDigitsAtTheLatest() throws Exception {
    JsonObject made =
        server
            .operator()
            .post("/v1/keys", serviceKey().put("expiresAt", "9999-12-31T23:59:59.9999999Z"))
            .expect(201);
    assertThat(made.getString("expiresAt")).isEqualTo("9999-12-31T23:59:59.999999Z");
  }

  @Test
  void aKeySaysWhoseItIs() throws Exception {
    Client operator = server.operator();
    JsonObject buyer = new JsonObject().put("role", "buyer").put("name", "n");

    JsonObject problem = operator.post("/v1/keys", buyer).expectProblem(400, "invalid-request");
    assertThat(problem.getString("field")).isEqualTo("buyer");
    operator.post("/v1/keys", serviceKey().put("buyer", "a")).expectProblem(400, "invalid-request");
    operator
        .post("/v1/keys", serviceKey().put("expiresAt", "2001-01-01T00:00:00Z"))
        .expectProblem(400, "invalid-request");
    operator
        .post("/v1/keys", serviceKey().put("role", "root"))
        .expectProblem(400, "invalid-request");
  }

  @Test
  void aRepeatedRequestMakesOneKeyAndShowsItOnce() throws Exception {
    JsonObject wanted = serviceKey().put("name", "once");
    Client operator = server.operator();
    JsonObject first = operator.post("/v1/keys", "make it", wanted).expect(201);
    assertThat(first.getString("key")).startsWith("lsk_");
    assertThat(first.getValue("notice")).isNull();

    Client.Reply again = operator.post("/v1/keys", "make it", wanted);
    JsonObject second = again.expect(201);
    assertThat(again.replayed()).isTrue();
    assertThat(second.getString("id")).isEqualTo(first.getString("id"));
    assertThat(second.getValue("key")).isNull();
    assertThat(second.getString("notice")).contains("revoke");

    // Nowhere in clear, not even with the answer that is kept.
    assertThat(
            server
                .database()
                .queryLong(
                    "SELECT count(*) FROM lockstep.once o WHERE o::text LIKE '%"
                        + first.getString("key")
                        + "%'"))
        .isZero();
    assertThat(
            server
                .database()
                .queryLong("SELECT count(*) FROM lockstep_server.api_key WHERE name = 'once'"))
        .isEqualTo(1);
    operator
        .post("/v1/keys", "make it", wanted.copy().put("name", "other"))
        .expectProblem(422, "idempotency-key-reused");

    // Whoever lost the answer revokes what it names, and asks anew.
    operator.delete("/v1/keys/" + second.getString("id")).expect(200);
    new Client(server.url(), Optional.of(first.getString("key")))
        .get(ALICE_HOLD)
        .expectProblem(401, "unauthorized");
    assertThat(operator.post("/v1/keys", "make another", wanted).expect(201).getString("key"))
        .isNotNull();
  }

  @Test
  void twinsMakeOneKeyAndOneOfThemIsShownIt() throws Exception {
    JsonObject wanted = serviceKey().put("name", "twins");
    List<Client.Reply> replies =
        Race.<Client.Reply>of(8)
            .run(i -> server.operator().post("/v1/keys", "twins", wanted))
            .valuesOrThrow();
    assertThat(replies).allMatch(reply -> reply.status() == 201 || reply.status() == 409);
    assertThat(replies)
        .filteredOn(reply -> reply.status() == 201 && reply.json().getString("key") != null)
        .hasSize(1);
    assertThat(
            server
                .database()
                .queryLong("SELECT count(*) FROM lockstep_server.api_key WHERE name = 'twins'"))
        .isEqualTo(1);
  }

  @Test
  void aPageGoesOnWhereItEndedAfterItsLastKeyIsGone() throws Exception {
    for (int i = 0; i < 5; i++) {
      server.operator().post("/v1/keys", serviceKey()).expect(201);
    }
    JsonObject all = server.operator().get("/v1/keys?limit=1000").expect(200);
    JsonObject first = server.operator().get("/v1/keys?limit=2").expect(200);
    String last = first.getJsonArray("items").getJsonObject(1).getString("id");
    server.database().execute("DELETE FROM lockstep_server.api_key WHERE id = '" + last + "'");
    JsonObject second =
        server.operator().get("/v1/keys?limit=1000&after=" + first.getString("next")).expect(200);
    assertThat(second.getJsonArray("items")).hasSize(all.getJsonArray("items").size() - 2);
  }

  @Test
  void keysAreListedPageByPage() throws Exception {
    for (int i = 0; i < 3; i++) {
      server.operator().post("/v1/keys", serviceKey()).expect(201);
    }
    JsonObject first = server.operator().get("/v1/keys?limit=2").expect(200);
    assertThat(first.getJsonArray("items")).hasSize(2);
    JsonObject second =
        server.operator().get("/v1/keys?limit=2&after=" + first.getString("next")).expect(200);
    assertThat(second.getJsonArray("items"))
        .isNotEmpty()
        .doesNotContainAnyElementsOf(first.getJsonArray("items"));
    server.operator().get("/v1/keys?limit=0").expectProblem(400, "invalid-request");
    server.operator().get("/v1/keys?limit=1001").expectProblem(400, "invalid-request");
  }

  @Test
  void aBuyerHasABurstOfTwentyAndThenTenASecond() throws Exception {
    Client buyer = server.buyer("eager");
    for (int i = 0; i < 20; i++) {
      buyer.get("/v1/campaigns").expect(200);
    }
    Client.Reply refused = buyer.get("/v1/campaigns");
    refused.expectProblem(429, "rate-limited");
    assertThat(refused.header("Retry-After")).hasValue("1");

    server.passSeconds(1);
    for (int i = 0; i < 10; i++) {
      buyer.get("/v1/campaigns").expect(200);
    }
    buyer.get("/v1/campaigns").expectProblem(429, "rate-limited");
    // Others have their own share, and services none to use up.
    server.buyer("calm").get("/v1/campaigns").expect(200);
    Client shop = server.service();
    for (int i = 0; i < 40; i++) {
      shop.get("/v1/campaigns").expect(200);
    }
  }

  private static JsonObject serviceKey() {
    return new JsonObject().put("role", "service").put("name", "a shop");
  }
}
