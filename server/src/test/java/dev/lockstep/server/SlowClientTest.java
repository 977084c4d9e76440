package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.edge.EdgeConfig;
import dev.lockstep.server.edge.HttpLimits;
import java.io.IOException;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** No step of a connection lasts for ever, and what takes long for a good reason may. */
@Timeout(180)
class SlowClientTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final Duration SHORT = Duration.ofMillis(400);
  private static final Duration LONG = Duration.ofMinutes(10);

  /** Everything that a client does is short here; what the server does has time. */
  private static final EdgeConfig IMPATIENT =
      RunningServer.EDGE.withLimits(
          HttpLimits.DEFAULT.withReading(SHORT, SHORT).withAnswering(LONG, SHORT, SHORT));

  private static Server impatient;

  @BeforeAll
  static void startANodeThatWaitsForNobody() {
    impatient = server.start(IMPATIENT);
  }

  @AfterAll
  static void stop() {
    impatient.close();
  }

  @Test
  void aConnectionOnWhichNothingIsAskedEnds() throws Exception {
    try (RawHttp client = RawHttp.to(impatient.url())) {
      client.expectEnd();
    }
  }

  @Test
  void halfAHeadIsAnsweredAndTheConnectionEnds() throws Exception {
    try (RawHttp client = RawHttp.to(impatient.url())) {
      client.send("GET /v1/campaigns HTTP/1.1\r\nHost: localhost\r\nX-Half: ");
      client.read().expectProblem(408, "request-timeout");
      client.expectEnd();
    }
  }

  @Test
  void aHeadOfOneByteAtATimeIsNotWaitedFor() throws Exception {
    try (RawHttp client = RawHttp.to(impatient.url());
        Drip drip = new Drip(client, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")) {
      drip.begin();
      client.read().expectProblem(408, "request-timeout");
      client.expectEnd();
    }
  }

  @Test
  void halfABodyIsAnsweredAndTheConnectionEnds() throws Exception {
    try (RawHttp client = RawHttp.to(impatient.url())) {
      client.send(post("Content-Length: 100") + "{\"name\":");
      client.read().expectProblem(408, "request-timeout");
      client.expectEnd();
    }
  }

  @Test
  void aBodyOfOneByteAtATimeIsNotWaitedFor() throws Exception {
    for (String framing : new String[] {"Content-Length: 60000", "Transfer-Encoding: chunked"}) {
      try (RawHttp client = RawHttp.to(impatient.url())) {
        client.send(post(framing));
        try (Drip drip = new Drip(client, framing.startsWith("T") ? "1\r\n \r\n" : "")) {
          drip.begin();
          client.read().expectProblem(408, "request-timeout");
          client.expectEnd();
        }
      }
    }
  }

  @Test
  void aConnectionThatIsIdleAfterAnAnswerEnds() throws Exception {
    try (RawHttp client = RawHttp.to(impatient.url())) {
      assertThat(client.get("/healthz").read().status()).isEqualTo(200);
      assertThat(client.get("/healthz").read().status()).isEqualTo(200);
      client.expectEnd();
    }
  }

  @Test
  void anEmptyLineBehindARequestBeginsNoOther() throws Exception {
    try (RawHttp client = RawHttp.to(impatient.url())) {
      assertThat(client.get("/healthz").read().status()).isEqualTo(200);
      client.send("\r\n");
      client.expectEnd();
    }
    try (RawHttp client = RawHttp.to(impatient.url())) {
      client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(client.get("/healthz").read().status()).isEqualTo(200);
      client.expectEnd();
    }
  }

  @Test
  void halfASecondHeadIsAnsweredToo() throws Exception {
    try (RawHttp client = RawHttp.to(impatient.url())) {
      assertThat(client.get("/healthz").read().status()).isEqualTo(200);
      client.send("GET /hea");
      client.read().expectProblem(408, "request-timeout");
      client.expectEnd();
    }
  }

  @Test
  void halfAHeadBehindARequestIsAnsweredToo() throws Exception {
    try (RawHttp client = RawHttp.to(impatient.url())) {
      client.get("/healthz").send("GET /hea");
      assertThat(client.read().status()).isEqualTo(200);
      client.read().expectProblem(408, "request-timeout");
      client.expectEnd();
    }
    try (RawHttp client = RawHttp.to(impatient.url())) {
      client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /hea");
      assertThat(client.read().status()).isEqualTo(200);
      client.read().expectProblem(408, "request-timeout");
      client.expectEnd();
    }
  }

  @Test
  void aLiveStreamMayBeQuietForLongerThanAnyTimeOut() throws Exception {
    String id = server.drop(10, null);
    try (RawHttp watcher = RawHttp.to(impatient.url())) {
      watcher.get("/v1/campaigns/" + id + "/live").readUntil("event: stock");
      awaitTimeOuts(3);
      server
          .service()
          .post("/v1/campaigns/" + id + "/holds", "quiet", cart("a", sku("A", 1)))
          .expect(201);
      watcher.readUntil("event: stock");
    }
  }

  @Test
  void anAnswerThatTakesLongIsWaitedFor() throws Exception {
    String id = server.drop(10, null);
    try (Connection holder = server.database().connection();
        Statement statement = holder.createStatement();
        RawHttp client = RawHttp.to(impatient.url())) {
      holder.setAutoCommit(false);
      statement.execute("SELECT 1 FROM lockstep.pool WHERE scope = " + id + " FOR UPDATE");
      client.send(hold(id));
      awaitTimeOuts(2);
      holder.rollback();
      assertThat(client.read().status()).isEqualTo(201);
    }
  }

  @Test
  void anAnswerThatNeverComesIsGivenUp() throws Exception {
    String id = server.drop(10, null);
    EdgeConfig edge =
        RunningServer.EDGE.withLimits(HttpLimits.DEFAULT.withAnswering(SHORT, LONG, LONG));
    try (Server node = server.start(edge);
        Connection holder = server.database().connection();
        Statement statement = holder.createStatement();
        RawHttp client = RawHttp.to(node.url())) {
      holder.setAutoCommit(false);
      statement.execute("SELECT 1 FROM lockstep.pool WHERE scope = " + id + " FOR UPDATE");
      client.send(hold(id));
      RawHttp.Got answer = client.read();
      answer.expectProblem(503, "answer-timeout");
      assertThat(answer.headers()).containsKey("retry-after");
      client.expectEnd();
      holder.rollback();
      // What became of it is told to whoever repeats it.
      Client again = new Client(server.url(), Optional.of(RunningServer.OPERATOR_KEY));
      Await.until(
          "the repetition is answered",
          () ->
              again.post("/v1/campaigns/" + id + "/holds", "slow", cart("a", sku("A", 1))).status()
                  == 201);
      assertThat(again.get("/v1/campaigns/" + id).expect(200).getInteger("held")).isEqualTo(1);
    }
  }

  private static String post(String framing) {
    return "POST /v1/campaigns HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
        + RunningServer.OPERATOR_KEY
        + "\r\nContent-Type: application/json\r\n"
        + framing
        + "\r\n\r\n";
  }

  private static String hold(String id) {
    String body = cart("a", sku("A", 1)).encode();
    return "POST /v1/campaigns/"
        + id
        + "/holds HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: slow\r\nAuthorization: Bearer "
        + RunningServer.OPERATOR_KEY
        + "\r\nContent-Type: application/json\r\nContent-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  /** Others are sent away one after the other; what lasts meanwhile has outlasted the time-out. */
  private static void awaitTimeOuts(int number) throws IOException {
    for (int i = 0; i < number; i++) {
      try (RawHttp idle = RawHttp.to(impatient.url())) {
        idle.expectEnd();
      }
    }
  }

  /** Sends a byte every now and then, until nobody listens. */
  private static final class Drip implements AutoCloseable {
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final RawHttp client;
    private final String text;
    private int sent;

    Drip(RawHttp client, String text) {
      this.client = client;
      this.text = text;
    }

    void begin() {
      var unused = timer.scheduleWithFixedDelay(this::drop, 0, 20, TimeUnit.MILLISECONDS);
    }

    private void drop() {
      int at = sent++;
      boolean chunks = text.startsWith("1");
      boolean told = at < text.length() || chunks;
      client.trySend(
          told && !text.isEmpty() ? String.valueOf(text.charAt(at % text.length())) : "x");
    }

    @Override
    public void close() {
      timer.shutdownNow();
    }
  }
}
