package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.edge.HttpLimits;
import dev.lockstep.server.edge.MemoryLimits;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A body is read only for somebody who may ask, and all bodies together have a bound. */
@Timeout(120)
class BodiesUnderWayTest {
  private static final int MIB = 1024 * 1024;
  private static final String EVENTS = "/v1/streams/bodies/events";
  private static final String EVENT = "{\"key\":\"k\",\"type\":\"t\",\"data\":{}}";
  private static final int MOST_OF_IT = 700_000;

  @RegisterExtension
  static final RunningServer server =
      new RunningServer()
          .behind(
              RunningServer.EDGE.withLimits(
                  HttpLimits.DEFAULT.withMemory(MemoryLimits.DEFAULT.withBodies(2 * MIB, MIB))));

  @BeforeAll
  static void makeAStream() throws Exception {
    server
        .operator()
        .send(
            "PUT",
            "/v1/streams/bodies",
            "{\"sinks\":[{\"name\":\"a\",\"type\":\"log\"}]}",
            Map.of())
        .expect(200);
  }

  @AfterEach
  void nothingIsKept() throws Exception {
    awaitUnderWay(0);
  }

  @Test
  void whoeverMayNotAskIsToldBeforeTheBodyArrives() throws Exception {
    try (RawHttp stranger = RawHttp.to(server.url())) {
      stranger.send(head("", MIB)).read().expectProblem(401, "unauthorized");
    }
    try (RawHttp stranger = RawHttp.to(server.url())) {
      stranger
          .send(head("Authorization: Bearer nobody-has-this\r\n", MIB))
          .read()
          .expectProblem(401, "unauthorized");
    }
  }

  @Test
  void aBodyThatNobodyReadsIsThrownAwayAndTheConnectionGoesOn() throws Exception {
    try (RawHttp stranger = RawHttp.to(server.url())) {
      stranger.send(head("", MIB)).read().expectProblem(401, "unauthorized");
      stranger.send(" ".repeat(MIB));
      assertThat(stranger.get("/healthz").read().status()).isEqualTo(200);
    }
  }

  @Test
  void oneAddressHasSoMuchUnderWay() throws Exception {
    try (RawHttp first = RawHttp.to(server.url());
        RawHttp second = RawHttp.to(server.url());
        RawHttp other = RawHttp.to(server.url(), "127.0.0.2")) {
      first.send(head(operator(), MIB) + " ".repeat(MOST_OF_IT));
      awaitUnderWay(MOST_OF_IT);
      second.send(head(operator(), MIB) + " ".repeat(MOST_OF_IT));
      RawHttp.Got refused = second.read();
      refused.expectProblem(429, "too-many-bodies");
      assertThat(refused.headers()).containsKey("retry-after").containsEntry("connection", "close");
      second.expectEnd();
      awaitUnderWay(MOST_OF_IT);
      other.send(head(operator(), MIB) + " ".repeat(MOST_OF_IT));
      awaitUnderWay(2 * MOST_OF_IT);
      first.send(rest());
      assertThat(first.read().status()).isEqualTo(201);
      other.send(rest());
      assertThat(other.read().status()).isEqualTo(201);
    }
  }

  @Test
  void allAddressesTogetherHaveABound() throws Exception {
    try (RawHttp first = RawHttp.to(server.url(), "127.0.0.1");
        RawHttp second = RawHttp.to(server.url(), "127.0.0.2");
        RawHttp third = RawHttp.to(server.url(), "127.0.0.3")) {
      first.send(head(operator(), MIB) + " ".repeat(MIB - EVENT.length()));
      second.send(head(operator(), MIB) + " ".repeat(MIB - EVENT.length()));
      awaitUnderWay(2 * (MIB - EVENT.length()));
      third.send(head(operator(), MIB) + " ".repeat(MOST_OF_IT));
      third.read().expectProblem(503, "overloaded");
      third.expectEnd();
      assertThat(first.send(EVENT).read().status()).isEqualTo(201);
      assertThat(second.send(EVENT).read().status()).isEqualTo(201);
    }
  }

  @Test
  void aClientThatGoesAwayGivesItsRoomBack() throws Exception {
    try (RawHttp gone = RawHttp.to(server.url())) {
      gone.send(head(operator(), MIB) + " ".repeat(MOST_OF_IT));
      awaitUnderWay(MOST_OF_IT);
      gone.abort();
    }
    awaitUnderWay(0);
  }

  @Test
  void aBodyInPiecesIsNotLongerThanOthers() throws Exception {
    try (RawHttp client = RawHttp.to(server.url())) {
      client.send(
          "POST /v1/accounts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              + operator()
              + "Transfer-Encoding: chunked\r\n\r\n"
              + "10001\r\n"
              + " ".repeat(0x10001)
              + "\r\n0\r\n\r\n");
      client.read().expectProblem(413, "body-too-large");
    }
  }

  @Test
  void whoeverAsksFirstWhetherToSendIsToldToContinue() throws Exception {
    try (RawHttp client = RawHttp.to(server.url())) {
      client.send(head(operator() + "Expect: 100-continue\r\n", EVENT.length()));
      assertThat(client.read().status()).isEqualTo(100);
      assertThat(client.send(EVENT).read().status()).isEqualTo(201);
    }
  }

  @Test
  void everyCodingOfABodyIsLookedAt() throws Exception {
    for (String second : new String[] {"gzip", "br"}) {
      try (RawHttp client = RawHttp.to(server.url())) {
        String codings = "Content-Encoding: identity\r\nContent-Encoding: " + second + "\r\n";
        client.send(head(operator() + codings, EVENT.length()) + EVENT);
        client.read().expectProblem(415, "unsupported-media-type");
      }
    }
  }

  private static String rest() {
    return " ".repeat(MIB - MOST_OF_IT - EVENT.length()) + EVENT;
  }

  private static String operator() {
    return "Authorization: Bearer " + RunningServer.OPERATOR_KEY + "\r\n";
  }

  private static String head(String headers, int length) {
    return "POST "
        + EVENTS
        + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + headers
        + "Content-Length: "
        + length
        + "\r\n\r\n";
  }

  private static void awaitUnderWay(int bytes) throws Exception {
    Await.until(
        bytes + " bytes of bodies are under way",
        () ->
            RawHttp.exchange(server.url(), "GET /metrics", "", new byte[0], Map.of())
                .body()
                .contains("lockstep_http_body_bytes " + (double) bytes + "\n"));
  }
}
