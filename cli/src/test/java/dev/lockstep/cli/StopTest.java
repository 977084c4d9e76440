package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Await;
import dev.lockstep.server.Client;
import dev.lockstep.server.RawHttp;
import dev.lockstep.server.RunningServer;
import io.vertx.core.json.JsonObject;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** SIGTERM ends a server within ten seconds, whatever clients, receivers and PostgreSQL do. */
@Timeout(180)
class StopTest {
  private static final String KEY = "operator-key-of-a-server-that-stops";

  /** Ten seconds are promised; the rest is for a busy machine to notice. */
  private static final Duration PROMISED = Duration.ofSeconds(11);

  private static final int CLIENTS = 10;
  private static final String HALF_A_REQUEST =
      "POST /v1/transfers HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
          + KEY
          + "\r\nContent-Length: 50\r\n\r\n{";

  @SuppressWarnings("NullAway.Init")
  private Path data;

  @BeforeEach
  void chooseFolder(@TempDir Path folder) {
    data = folder.resolve("data");
  }

  @AfterEach
  void nothingIsLeftRunning() {
    ServerProcess.stopAbandoned(data);
  }

  @Test
  void aBodyThatIsStillOnItsWayIsRefusedAndNotWaitedFor() throws Exception {
    try (ServerProcess server = up()) {
      String url = server.awaitReady();
      try (RawHttp slow = RawHttp.to(url)) {
        slow.send(HALF_A_REQUEST);
        awaitInFlight(url, 1);

        server.askToStop();

        RawHttp.Got answer = slow.read();
        answer.expectProblem(503, "shutting-down");
        assertThat(answer.headers().get("connection")).isEqualTo("close");
        assertThat(server.exitCodeWithin(PROMISED)).hasValue(0);
      }
    }
  }

  @Test
  void slowClientsAndASlowReceiverTogetherDoNotDelayTheEnd() throws Exception {
    List<AutoCloseable> open = new ArrayList<>();
    try (ServerProcess server = up();
        ServerSocket receiver = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String url = server.awaitReady();
      Client operator = new Client(url, Optional.of(KEY));
      operator
          .post(
              "/v1/schedules",
              new JsonObject()
                  .put("name", "slow")
                  .put("when", new JsonObject().put("at", Instant.now().toString()))
                  .put(
                      "deliver",
                      new JsonObject()
                          .put("webhook", "http://127.0.0.1:" + receiver.getLocalPort() + "/")
                          .put("body", new JsonObject())))
          .expect(201);
      for (int i = 0; i < CLIENTS; i++) {
        RawHttp sends = RawHttp.to(url);
        open.add(sends);
        sends.send(HALF_A_REQUEST);
        RawHttp takesNothing = RawHttp.to(url);
        open.add(takesNothing);
        takesNothing.send("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(50));
        RawHttp watches = RawHttp.to(url);
        open.add(watches);
        watches.send("GET /v1/campaigns/1/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
      }
      // The delivery is under way, and gets no answer.
      try (Socket delivery = receiver.accept()) {
        assertThat(delivery.getInputStream().read()).isPositive();
        awaitInFlight(url, CLIENTS);

        server.askToStop();

        assertThat(server.exitCodeWithin(PROMISED)).hasValue(0);
      }
    } finally {
      for (AutoCloseable one : open) {
        one.close();
      }
    }
  }

  @Test
  void aDatabaseThatStandsStillIsKilledAndTheNextStartRecovers() throws Exception {
    try (ServerProcess server = up()) {
      String url = server.awaitReady();
      String campaign =
          new Client(url, Optional.of(KEY))
              .post("/v1/campaigns", RunningServer.dropOf(10))
              .expect(201)
              .getString("id");
      try (FrozenPostgres frozen = FrozenPostgres.of(data)) {
        server.askToStop();

        assertThat(server.exitCodeWithin(PROMISED)).hasValue(0);
        assertThat(frozen.alive()).isZero();
      }
      try (ServerProcess next = up()) {
        new Client(next.awaitReady(), Optional.of(KEY))
            .get("/v1/campaigns/" + campaign)
            .expect(200);
        assertThat(next.terminate()).isZero();
      }
    }
  }

  /** Until the server counts so many requests that are not answered; besides the one that asks. */
  private static void awaitInFlight(String url, int requests) throws Exception {
    Await.until(
        "the requests have arrived",
        () ->
            ServerProcess.get(url + "/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("lockstep_http_requests_in_flight "))
                .anyMatch(line -> Double.parseDouble(line.substring(33)) > requests));
  }

  private ServerProcess up() throws Exception {
    return ServerProcess.start(
        Map.of("LOCKSTEP_OPERATOR_KEY", KEY, "LOCKSTEP_ALLOW_PRIVATE_TARGETS", "true"),
        "up",
        "--port",
        "0",
        "--data",
        data.toString());
  }
}
