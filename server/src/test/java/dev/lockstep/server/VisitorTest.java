package dev.lockstep.server;

import static dev.lockstep.server.Client.layer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.server.rate.RateLimits;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** People who buy in the shop without a key of their own. */
@Timeout(120)
class VisitorTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final JsonObject ONE =
      new JsonObject().put("items", new JsonArray().add(layer(3, 1)));

  @Test
  void aVisitorIsABuyerOfItsOwnWithACookieThatNoScriptReads() throws Exception {
    Reply entered = server.anyone().post("/v1/visitor", null);
    assertThat(entered.expect(201).getString("buyer")).startsWith("visitor-");
    assertThat(entered.header("Set-Cookie"))
        .hasValueSatisfying(
            cookie ->
                assertThat(cookie)
                    .contains("HTTPOnly", "SameSite=Strict", "Path=/", "Max-Age=2592000"));

    String id = server.triangle(3, null);
    Client first = server.visitor();
    Client second = server.visitor();
    JsonObject hold = first.post("/v1/campaigns/" + id + "/holds", "k", ONE).expect(201);
    assertThat(hold.getString("buyer"))
        .isEqualTo(first.get("/v1/visitor").expect(200).getString("buyer"));
    first.get("/v1/holds/" + hold.getString("id")).expect(200);
    second.get("/v1/holds/" + hold.getString("id")).expectProblem(404, "not-found");
    second.delete("/v1/holds/" + hold.getString("id")).expectProblem(404, "not-found");
  }

  @Test
  void enteringAgainChangesNothing() throws Exception {
    Client visitor = server.visitor();
    String buyer = visitor.get("/v1/visitor").expect(200).getString("buyer");
    Reply again = visitor.post("/v1/visitor", null);
    assertThat(again.expect(200).getString("buyer")).isEqualTo(buyer);
    assertThat(again.header("Set-Cookie")).isEmpty();
  }

  @Test
  void onlyAHashOfTheKeyIsKept() throws Exception {
    String cookie = server.visitor().cookie().orElseThrow();
    String key = cookie.substring(cookie.indexOf('=') + 1);
    assertThat(
            server
                .database()
                .queryLong(
                    "SELECT count(*) FROM lockstep_server.api_key k WHERE k::text LIKE '%"
                        + key.substring(12)
                        + "%'"))
        .isZero();
  }

  /** A browser adds the cookie by itself, whoever made it send the request. */
  @ParameterizedTest
  @ValueSource(strings = {"cross-site", "same-site", "none"})
  void whatAnotherSiteMakesABrowserSendDoesNotCount(String site) throws Exception {
    String id = server.triangle(3, null);
    Client visitor = server.visitor();
    Map<String, String> foreign = Map.of("Idempotency-Key", "k", "Sec-Fetch-Site", site);
    visitor
        .send("POST", "/v1/campaigns/" + id + "/holds", ONE.encode(), foreign)
        .expectProblem(401, "unauthorized");
    assertThat(server.anyone().get("/v1/campaigns/" + id).expect(200).getInteger("held")).isZero();
  }

  @Test
  void withoutFetchMetadataTheOriginHasToBeOurs() throws Exception {
    String id = server.triangle(3, null);
    String path = "/v1/campaigns/" + id + "/holds";
    String cookie = server.visitor().cookie().orElseThrow();
    Map<String, String> silent = Map.of("Idempotency-Key", "k", "Cookie", cookie);
    server.anyone().send("POST", path, ONE.encode(), silent).expectProblem(401, "unauthorized");
    for (String origin : new String[] {"http://evil.example", "null", "http://localhost:1"}) {
      Map<String, String> foreign =
          Map.of("Idempotency-Key", "k", "Cookie", cookie, "Origin", origin);
      server.anyone().send("POST", path, ONE.encode(), foreign).expectProblem(401, "unauthorized");
    }
    Map<String, String> own =
        Map.of("Idempotency-Key", "k", "Cookie", cookie, "Origin", server.url());
    server.anyone().send("POST", path, ONE.encode(), own).expect(201);
  }

  @Test
  void aFormOfAnotherSiteCannotMakeAVisitor() throws Exception {
    server
        .anyone()
        .send("POST", "/v1/visitor", null, Map.of("Sec-Fetch-Site", "cross-site"))
        .expectProblem(403, "forbidden");
    server
        .anyone()
        .send("POST", "/v1/visitor", null, Map.of("Origin", "http://evil.example"))
        .expectProblem(403, "forbidden");
  }

  @Test
  void aKeyOfMorePowerInACookieIsNoKey() throws Exception {
    Client operator =
        new Client(
            server.url(),
            Optional.empty(),
            Optional.of("lockstep_visitor=" + RunningServer.OPERATOR_KEY));
    operator.get("/v1/keys").expectProblem(401, "unauthorized");
    operator.get("/v1/holds/1.x").expectProblem(401, "unauthorized");
    assertThat(operator.get("/v1/visitor").expect(200).getString("buyer")).isNull();
  }

  @Test
  void aCookieThatIsNoLongerGoodStillReadsWhatAnyoneMay() throws Exception {
    Client stranger =
        new Client(server.url(), Optional.empty(), Optional.of("lockstep_visitor=lsk_nobody"));
    stranger.get("/v1/campaigns").expect(200);
    stranger.get("/v1/holds/1.x").expectProblem(401, "unauthorized");
    // And is replaced by one that is.
    stranger.post("/v1/visitor", null).expect(201);
  }

  @Test
  void whoLeavesIsForgotten() throws Exception {
    Client visitor = server.visitor();
    Reply left = visitor.delete("/v1/visitor");
    left.expect(200);
    assertThat(left.header("Set-Cookie"))
        .hasValueSatisfying(cookie -> assertThat(cookie).contains("Max-Age=0"));
    assertThat(visitor.get("/v1/visitor").expect(200).getString("buyer")).isNull();
    visitor.get("/v1/holds/1.x").expectProblem(401, "unauthorized");
  }

  @Test
  void oneAddressCannotMakeVisitorsWithoutEnd() throws Exception {
    server.passSeconds(60);
    for (int i = 0; i < RateLimits.DEFAULT.visitors().burst(); i++) {
      server.anyone().post("/v1/visitor", null).expect(201);
    }
    Reply refused = server.anyone().post("/v1/visitor", null);
    refused.expectProblem(429, "rate-limited");
    assertThat(refused.header("Retry-After")).hasValue("1");
    server.passSeconds(60);
    server.anyone().post("/v1/visitor", null).expect(201);
  }

  @Test
  void visitorsOfLongAgoAreRemovedAndOtherKeysStay() throws Exception {
    Client old = server.visitor();
    Client recent = server.visitor();
    Client buyer = server.buyer("of long ago");
    String id = old.get("/v1/visitor").expect(200).getString("buyer");
    server
        .database()
        .execute(
            "UPDATE lockstep_server.api_key SET created_at = now() - interval '31 days'"
                + " WHERE buyer IN ('of long ago', '"
                + id
                + "')");
    assertThat(server.removeOldVisitors()).isEqualTo(1);
    server.passSeconds(10);
    assertThat(old.get("/v1/visitor").expect(200).getString("buyer")).isNull();
    assertThat(recent.get("/v1/visitor").expect(200).getString("buyer")).isNotNull();
    buyer.get("/v1/visitor").expect(200);
  }

  @Test
  void moreVisitorsOfLongAgoThanOneBatchAreRemovedAtOnce() throws Exception {
    server
        .database()
        .execute(
            """
            INSERT INTO lockstep_server.api_key
              (id, hash, prefix, role, name, buyer, created_at, created_by, expires_at)
            SELECT 'old ' || n, sha256(n::text::bytea), 'lsk_', 'buyer', 'Visitor of the shop',
              'old ' || n, now() - interval '31 days', 'shop', now() - interval '1 day'
            FROM generate_series(1, 2500) n""");
    assertThat(server.removeOldVisitors()).isGreaterThanOrEqualTo(2_500);
  }

  @Test
  void whereVisitorsAreOffNobodyGetsIn() throws Exception {
    try (Server other = server.startWithoutVisitors()) {
      Client anyone = new Client(other.url(), Optional.empty());
      assertThat(anyone.get("/v1/visitor").expect(200).getBoolean("enabled")).isFalse();
      anyone.post("/v1/visitor", null).expectProblem(403, "visitors-off");
    }
  }
}
