package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.server.rate.Rate;
import dev.lockstep.server.rate.RateLimits;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How often somebody may ask, and that he is told. The clock of limits stands still. */
@Timeout(120)
class RateLimitsTest {
  private static final RateLimits RATES =
      RateLimits.DEFAULT
          .withAnonymous(new Rate(5, 10))
          .withUnknownKeys(new Rate(2, 4))
          .withService(new Rate(100, 100))
          .withLab(new Rate(1, 2));

  @RegisterExtension
  static final RunningServer server =
      new RunningServer().behind(RunningServer.EDGE.withRates(RATES));

  @BeforeEach
  void fillEveryBucket() {
    server.passSeconds(60);
  }

  @Test
  void aBuyerIsToldTheLimitAndWhatIsLeft() throws Exception {
    Client buyer = server.buyer("told");
    Reply first = buyer.get("/v1/campaigns");
    first.expect(200);
    assertThat(first.header("RateLimit-Policy")).hasValue("\"buyer\";q=20;w=2");
    assertThat(first.header("RateLimit")).hasValue("\"buyer\";r=19;t=1");
    for (int i = 1; i < 20; i++) {
      buyer.get("/v1/campaigns").expect(200);
    }
    Reply refused = buyer.get("/v1/campaigns");
    refused.expectProblem(429, "rate-limited");
    assertThat(refused.header("Retry-After")).hasValue("1");
    assertThat(refused.header("RateLimit-Policy")).hasValue("\"buyer\";q=20;w=2");
    assertThat(refused.header("RateLimit")).hasValue("\"buyer\";r=0;t=2");
  }

  @Test
  void operatorsHaveNoLimitUnlessTold() throws Exception {
    Reply reply = server.operator().get("/v1/campaigns");
    reply.expect(200);
    assertThat(reply.header("RateLimit")).isEmpty();
    assertThat(server.service().get("/v1/campaigns").header("RateLimit-Policy"))
        .hasValue("\"service\";q=100;w=1");
  }

  @Test
  void whoHasNoKeyIsCountedByAddress() throws Exception {
    for (int i = 0; i < 10; i++) {
      server.anyone().get("/v1/campaigns").expect(200);
    }
    Reply refused = server.anyone().get("/v1/campaigns");
    refused.expectProblem(429, "rate-limited");
    assertThat(refused.header("RateLimit-Policy")).hasValue("\"anonymous\";q=10;w=2");
    // Others go on: with a key, and from elsewhere.
    server.operator().get("/v1/campaigns").expect(200);
    try (RawHttp elsewhere = RawHttp.to(server.url(), "127.0.0.2")) {
      assertThat(elsewhere.get("/v1/campaigns").read().status()).isEqualTo(200);
    }
  }

  @Test
  void whoBecomesManyVisitorsMayAskNoMoreOftenThanOneWithoutAKey() throws Exception {
    List<Client> visitors = List.of(server.visitor(), server.visitor());
    for (int i = 2; i < 10; i++) {
      visitors.get(i % 2).get("/v1/purchases").expect(200);
    }
    Reply refused = visitors.get(0).get("/v1/purchases");
    refused.expectProblem(429, "rate-limited");
    assertThat(refused.header("RateLimit-Policy")).hasValue("\"anonymous\";q=10;w=2");
    // Buyers for whom somebody vouched go on.
    server.buyer("known here").get("/v1/purchases").expect(200);
  }

  @Test
  void pagesAndDocumentsCountAsOtherRequestsWithoutAKey() throws Exception {
    for (String path : List.of("/docs", "/openapi.json", "/", "/console", "/lab", "/status")) {
      Reply page = server.anyone().get(path);
      assertThat(page.status()).isEqualTo(200);
      assertThat(page.header("RateLimit-Policy")).hasValue("\"anonymous\";q=10;w=2");
    }
    for (int i = 6; i < 10; i++) {
      server.anyone().get("/v1/campaigns").expect(200);
    }
    server.anyone().get("/docs").expectProblem(429, "rate-limited");
    server.anyone().get("/shop/1").expectProblem(429, "rate-limited");
    // Whoever watches over the server, and what pages are made of, are not counted.
    server.anyone().get("/healthz").expect(200);
    assertThat(server.anyone().get("/icon.svg").status()).isEqualTo(200);
  }

  @Test
  void whoMayAskNoMoreIsToldBeforeTheBodyArrives() throws Exception {
    for (int i = 0; i < 10; i++) {
      server.anyone().get("/v1/campaigns").expect(200);
    }
    try (RawHttp client = RawHttp.to(server.url())) {
      client.send("POST /v1/visitor HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n");
      client.read().expectProblem(429, "rate-limited");
    }
  }

  @Test
  void keysThatAreNotKnownAreCountedByAddress() throws Exception {
    Client buyer = server.buyer("known");
    buyer.get("/v1/campaigns").expect(200);
    for (int i = 0; i < 4; i++) {
      stranger("lsk_guess" + i).get("/v1/campaigns").expectProblem(401, "unauthorized");
    }
    Reply refused = stranger("lsk_guess4").get("/v1/campaigns");
    refused.expectProblem(429, "rate-limited");
    assertThat(refused.header("RateLimit-Policy")).hasValue("\"unknown-keys\";q=4;w=2");
    // A key that was good is looked up again when it was forgotten.
    buyer.get("/v1/campaigns").expect(200);
    server.operator().get("/v1/campaigns").expect(200);
  }

  @Test
  void goodKeysUseUpNothingOfIt() throws Exception {
    for (int i = 0; i < 8; i++) {
      server.buyer("good" + i).get("/v1/campaigns").expect(200);
    }
    stranger("lsk_guess").get("/v1/campaigns").expectProblem(401, "unauthorized");
  }

  @Test
  void manyBuyersOfOneAddressMayComeAtOnceForTheFirstTime() throws Exception {
    List<Client> buyers = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      buyers.add(server.buyer("new" + i));
    }
    ExecutorService callers = Executors.newFixedThreadPool(buyers.size());
    List<Future<Reply>> replies = new ArrayList<>();
    try (Connection holder = server.database().connection();
        Statement statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      statement.execute("LOCK TABLE lockstep_server.api_key IN ACCESS EXCLUSIVE MODE");
      for (Client buyer : buyers) {
        replies.add(callers.submit(() -> buyer.get("/v1/campaigns")));
      }
      Await.until("as many keys are looked up as may be unknown", () -> lookups() >= 4);
      holder.rollback();
      for (Future<Reply> reply : replies) {
        reply.get().expect(200);
      }
    } finally {
      callers.shutdownNow();
    }
    // None of them was counted.
    for (int i = 0; i < 4; i++) {
      stranger("lsk_after" + i).get("/v1/campaigns").expectProblem(401, "unauthorized");
    }
  }

  private static int lookups() throws Exception {
    try (Connection connection = server.database().dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT count(*) FROM pg_locks"
                    + " WHERE NOT granted AND relation = 'lockstep_server.api_key'::regclass")) {
      row.next();
      return row.getInt(1);
    }
  }

  @Test
  void aKeyThatIsNotKnownIsLookedUpOnceInAWhile() throws Exception {
    Client stranger = stranger("lsk_again");
    stranger.get("/v1/campaigns").expectProblem(401, "unauthorized");
    try (Connection holder = server.database().connection();
        Statement statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      statement.execute("LOCK TABLE lockstep_server.api_key IN ACCESS EXCLUSIVE MODE");
      // Nobody could look now.
      stranger.get("/v1/campaigns").expectProblem(401, "unauthorized");
      holder.rollback();
    }
  }

  @Test
  void theLabPlaysSoOftenForOne() throws Exception {
    String run = "/v1/lab/scenarios/nowhere/runs";
    server.anyone().post(run, null).expectProblem(404, "not-found");
    String id =
        server
            .anyone()
            .get("/v1/lab/scenarios")
            .expect(200)
            .getJsonArray("items")
            .getJsonObject(0)
            .getString("id");
    String known = "/v1/lab/scenarios/" + id + "/runs";
    for (int i = 0; i < 2; i++) {
      Reply played = server.anyone().post(known, null);
      played.expect(200);
      assertThat(played.response().headers().allValues("RateLimit-Policy"))
          .contains("\"lab\";q=2;w=2");
    }
    Reply refused = server.anyone().post(known, null);
    refused.expectProblem(429, "rate-limited");
    assertThat(refused.header("RateLimit-Policy")).hasValue("\"lab\";q=2;w=2");
    server.operator().post(known, null).expect(200);
  }

  @Test
  void anAddressThatNobodyTrustsCannotNameAnother() throws Exception {
    for (int i = 0; i < 10; i++) {
      forwarded("203.0.113." + i).expect(200);
    }
    forwarded("203.0.113.99").expectProblem(429, "rate-limited");
  }

  private static Reply forwarded(String address) throws Exception {
    return server.anyone().send("GET", "/v1/campaigns", null, Map.of("X-Forwarded-For", address));
  }

  private static Client stranger(String key) {
    return new Client(server.url(), Optional.of(key));
  }
}
