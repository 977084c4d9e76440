package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.server.edge.EdgeConfig;
import dev.lockstep.server.edge.OpenTo;
import dev.lockstep.server.edge.Trust;
import dev.lockstep.server.key.Secret;
import dev.lockstep.server.rate.Rate;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whose word is taken: for where a request comes from, for its host, and to see the metrics. */
@Timeout(120)
class TrustTest {
  private static final String TOKEN = "token-for-the-metrics";

  private static final EdgeConfig EDGE =
      RunningServer.EDGE
          .withRates(
              RunningServer.EDGE
                  .rates()
                  .withUnknownKeys(new Rate(5, 20))
                  .withAnonymous(new Rate(5, 5)))
          .withTrust(Trust.DEFAULT.withProxies("127.0.0.1").withMetricsToken(Secret.of(TOKEN)));

  @RegisterExtension static final RunningServer server = new RunningServer().behind(EDGE);

  @BeforeEach
  void everybodyHasTheirShareAgain() {
    server.passSeconds(60);
  }

  @Test
  void clientsBehindATrustedProxyHaveALimitEach() throws Exception {
    for (int i = 0; i < 5; i++) {
      through(Map.of("X-Forwarded-For", "203.0.113.1"), "/v1/campaigns").expect(200);
    }
    through(Map.of("X-Forwarded-For", "203.0.113.1"), "/v1/campaigns")
        .expectProblem(429, "rate-limited");
    // What the client itself wrote in front does not help.
    through(Map.of("X-Forwarded-For", "198.51.100.7, 203.0.113.1"), "/v1/campaigns")
        .expectProblem(429, "rate-limited");
    through(Map.of("X-Forwarded-For", "203.0.113.2"), "/v1/campaigns").expect(200);
    through(Map.of("Forwarded", "for=203.0.113.3"), "/v1/campaigns").expect(200);
  }

  @Test
  void whoeverWritesIntoAHeaderThatTheProxyPassesOnHasOneLimitInAll() throws Exception {
    for (int i = 0; i < 5; i++) {
      through(inBoth("198.51.100." + i), "/v1/campaigns").expect(200);
    }
    through(inBoth("198.51.100.9"), "/v1/campaigns").expectProblem(429, "rate-limited");
    through(Map.of("X-Forwarded-For", "203.0.113.1"), "/v1/campaigns").expect(200);
  }

  private static Map<String, String> inBoth(String invented) {
    return Map.of("Forwarded", "for=" + invented, "X-Forwarded-For", "203.0.113.1");
  }

  @Test
  void whatIsNotWellFormedIsNoFault() throws Exception {
    for (String value :
        new String[] {
          "", ",", "for", "for=", "for=\"", "for=[::1", "for=_hidden;;", "\"", "%00", "\\"
        }) {
      server.passSeconds(60);
      through(Map.of("Forwarded", value), "/v1/campaigns").expect(200);
      through(Map.of("X-Forwarded-For", value), "/v1/campaigns").expect(200);
    }
  }

  @Test
  void aCookieIsSecureWhereTheProxySpeaksHttps() throws Exception {
    Reply secure =
        server
            .anyone()
            .send(
                "POST",
                "/v1/visitor",
                null,
                Map.of("X-Forwarded-For", "203.0.113.5", "X-Forwarded-Proto", "https"));
    secure.expect(201);
    assertThat(secure.header("Set-Cookie").orElseThrow()).contains("Secure");
    Reply plain = server.anyone().post("/v1/visitor", null);
    plain.expect(201);
    assertThat(plain.header("Set-Cookie").orElseThrow()).doesNotContain("Secure");
    try (RawHttp untrusted = RawHttp.to(server.url(), "127.0.0.2")) {
      untrusted.send(
          "POST /v1/visitor HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Proto: https\r\n\r\n");
      assertThat(untrusted.read().headers().get("set-cookie")).doesNotContain("Secure");
    }
  }

  @Test
  void thePagesOriginIsComparedWithTheHostThatTheBrowserAskedFor() throws Exception {
    Map<String, String> own =
        Map.of(
            "X-Forwarded-For",
            "203.0.113.6",
            "X-Forwarded-Host",
            "shop.example",
            "Origin",
            "https://shop.example");
    server.anyone().send("POST", "/v1/visitor", null, own).expect(201);
    Map<String, String> foreign =
        Map.of(
            "X-Forwarded-For",
            "203.0.113.6",
            "X-Forwarded-Host",
            "shop.example",
            "Origin",
            "https://evil.example");
    server.anyone().send("POST", "/v1/visitor", null, foreign).expectProblem(403, "forbidden");
  }

  @Test
  void metricsAreForThisMachineForOperatorsAndForTheTokensHolder() throws Exception {
    server.passSeconds(60);
    Map<String, String> forwarded = Map.of("X-Forwarded-For", "203.0.113.9");
    assertThat(server.anyone().get("/metrics").status()).isEqualTo(200);
    Reply refused = through(forwarded, "/metrics");
    refused.expectProblem(401, "unauthorized");
    assertThat(refused.header("WWW-Authenticate")).hasValue("Bearer");
    assertThat(with(TOKEN, forwarded).status()).isEqualTo(200);
    assertThat(with(RunningServer.OPERATOR_KEY, forwarded).status()).isEqualTo(200);
    with("lsk_wrong", forwarded).expectProblem(401, "unauthorized");
    String buyer = server.buyer("curious").key().orElseThrow();
    with(buyer, forwarded).expectProblem(401, "unauthorized");
    // The token opens nothing else.
    new Client(server.url(), Optional.of(TOKEN)).get("/v1/keys").expectProblem(401, "unauthorized");
  }

  @Test
  void aNameThatIsNotThisMachinesDoesNotShowTheMetrics() throws Exception {
    try (RawHttp led = RawHttp.to(server.url())) {
      led.send("GET /metrics HTTP/1.1\r\nHost: rebound.example\r\n\r\n");
      led.read().expectProblem(401, "unauthorized");
    }
  }

  @Test
  void whatTheServerIsMadeOfIsShownToOperatorsOnly() throws Exception {
    assertThat(server.anyone().get("/status").response().body())
        .contains("<dt>Database", "<dt>Version");
    String shown = through(Map.of("Forwarded", "for=203.0.113.9"), "/status").response().body();
    assertThat(shown).doesNotContain("<dt>Database", "<dt>Version", "the test database");
    assertThat(shown).contains("Ready.");
  }

  @Test
  void onLoopbackTooAKeyCanBeAskedFor() throws Exception {
    try (Server node = server.start(EDGE.withTrust(EDGE.trust().withOpenTo(OpenTo.NOBODY)))) {
      Client anyone = new Client(node.url(), Optional.empty());
      anyone.get("/metrics").expectProblem(401, "unauthorized");
      assertThat(new Client(node.url(), Optional.of(TOKEN)).get("/metrics").status())
          .isEqualTo(200);
    }
  }

  @Test
  void everybodyMaySeeTheMetricsWhereThatIsTold() throws Exception {
    try (Server node = server.start(EDGE.withTrust(EDGE.trust().withOpenTo(OpenTo.EVERYBODY)))) {
      Client anyone = new Client(node.url(), Optional.empty());
      Map<String, String> forwarded = Map.of("X-Forwarded-For", "203.0.113.9");
      assertThat(anyone.send("GET", "/metrics", null, forwarded).status()).isEqualTo(200);
      assertThat(anyone.send("GET", "/status", null, forwarded).response().body())
          .contains("<dt>Database");
    }
  }

  @Test
  void hostsThatAreNotNamedAreRefused() throws Exception {
    try (Server node =
        server.start(RunningServer.EDGE.withTrust(Trust.DEFAULT.withHosts("shop.example")))) {
      assertThat(asked(node, "/v1/campaigns", "shop.example")).isEqualTo(200);
      assertThat(asked(node, "/v1/campaigns", "SHOP.example:443")).isEqualTo(200);
      assertThat(asked(node, "/v1/campaigns", "localhost:8080")).isEqualTo(200);
      assertThat(asked(node, "/v1/campaigns", "evil.example")).isEqualTo(421);
      assertThat(asked(node, "/", "10.0.0.1")).isEqualTo(421);
      // Probes come to an address.
      assertThat(asked(node, "/healthz", "10.0.0.1")).isEqualTo(200);
      assertThat(asked(node, "/readyz", "10.0.0.1")).isEqualTo(200);
    }
  }

  @Test
  void whatTheServerCanDoIsToldUnderItsOwnNamesOnly() throws Exception {
    try (Server node =
        server.start(RunningServer.EDGE.withTrust(Trust.DEFAULT.withHosts("shop.example")))) {
      for (String host : new String[] {"shop.example", "evil.example"}) {
        try (RawHttp client = RawHttp.to(node.url())) {
          client.send("OPTIONS * HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
          assertThat(client.read().status()).isEqualTo(host.startsWith("shop") ? 204 : 421);
        }
      }
    }
  }

  private static int asked(Server node, String path, String host) throws Exception {
    try (RawHttp client = RawHttp.to(node.url())) {
      client.send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
      RawHttp.Got answer = client.read();
      if (answer.status() == 421) {
        answer.expectProblem(421, "misdirected-request");
      }
      return answer.status();
    }
  }

  private static Reply through(Map<String, String> headers, String path) throws Exception {
    return server.anyone().send("GET", path, null, headers);
  }

  private static Reply with(String key, Map<String, String> headers) throws Exception {
    return new Client(server.url(), Optional.of(key)).send("GET", "/metrics", null, headers);
  }
}
