package dev.lockstep.server.outgoing;

import static dev.lockstep.server.outgoing.LocalReceivers.LOCAL;
import static dev.lockstep.server.outgoing.LocalReceivers.LOOPBACK;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.outgoing.PostResult.Answered;
import dev.lockstep.server.outgoing.PostResult.Failed;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.PfxOptions;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Over real sockets: what is sent, and what may come back. */
@Timeout(120)
class OutgoingHttpTest {
  @RegisterExtension static final LocalReceivers receivers = new LocalReceivers();

  @Test
  void aRequestArrivesWithItsHeadersAndItsBytes() throws Exception {
    int port = receivers.open(request -> request.response().setStatusCode(202).end("thanks"));

    PostResult result =
        receivers.post(LOCAL, "http://127.0.0.1:" + port + "/a?b=c", Map.of("X-Note", "n"));

    assertThat(result).isEqualTo(new Answered(202, Optional.empty(), "thanks"));
    assertThat(receivers.arrived())
        .containsExactly("POST /a?b=c 127.0.0.1:" + port + " n {\"n\":1}");
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 302, 303, 307, 308})
  void aRedirectIsNotFollowed(int status) throws Exception {
    int port =
        receivers.open(
            request ->
                request.response().setStatusCode(status).putHeader("Location", "/elsewhere").end());

    PostResult result = receivers.post(LOCAL, "http://127.0.0.1:" + port + "/here");

    assertThat(((Answered) result).status()).isEqualTo(status);
    assertThat(receivers.arrived()).hasSize(1);
  }

  @Test
  void anAnswerWithoutEndIsCutOff() throws Exception {
    int port =
        receivers.open(
            request -> {
              var response = request.response().setChunked(true).setStatusCode(500);
              Buffer part = Buffer.buffer("x".repeat(10_000));
              response.drainHandler(drained -> write(response, part));
              write(response, part);
            });

    PostResult result =
        receivers.post(LOCAL.withMaxAnswerBytes(50_000), "http://127.0.0.1:" + port + "/");

    assertThat(result).isEqualTo(new Answered(500, Optional.empty(), "x".repeat(200)));
  }

  private static void write(HttpServerResponse response, Buffer part) {
    while (!response.closed() && !response.writeQueueFull()) {
      response.write(part.copy());
    }
  }

  @Test
  void whoNeverAnswersIsGivenUp() throws Exception {
    int silent = receivers.open(request -> {});
    int slow =
        receivers.open(
            request -> request.response().setChunked(true).setStatusCode(200).write("a moment…"));
    OutgoingConfig impatient = LOCAL.withTimeouts(Duration.ofMillis(200), Duration.ofMillis(300));

    for (int port : List.of(silent, slow)) {
      assertThat(receivers.post(impatient, "http://127.0.0.1:" + port + "/"))
          .isEqualTo(new Failed("No answer within 300 ms"));
    }
  }

  @Test
  void whoCannotBeReachedIsSaidToBeSo() throws Exception {
    int port = receivers.open(request -> request.connection().close());
    assertThat(receivers.post(LOCAL, "http://127.0.0.1:" + port + "/")).isInstanceOf(Failed.class);
    assertThat(receivers.post(LOCAL, "http://127.0.0.1:1/")).isInstanceOf(Failed.class);
    Resolver nobody =
        host -> {
          throw new UnknownHostException(host);
        };
    assertThat(receivers.post(LOCAL.withResolver(nobody), "http://nobody.test/"))
        .isEqualTo(new Failed("Unknown host nobody.test"));
  }

  @Test
  void whenToComeBackIsReadAsSecondsOrADate() throws Exception {
    ZonedDateTime date = ZonedDateTime.now(ZoneOffset.UTC).plusHours(2);
    assertThat(retryAfter("17")).contains(Duration.ofSeconds(17));
    assertThat(retryAfter(DateTimeFormatter.RFC_1123_DATE_TIME.format(date)).orElseThrow())
        .isBetween(Duration.ofMinutes(60), Duration.ofMinutes(121));
    for (String none : List.of("soon", "-1", "99999999999999", "Thu, 01 Jan 1970 00:00:00 GMT")) {
      assertThat(retryAfter(none)).as(none).isEmpty();
    }
  }

  private Optional<Duration> retryAfter(String header) throws Exception {
    int port =
        receivers.open(
            request ->
                request.response().setStatusCode(503).putHeader("Retry-After", header).end());
    return ((Answered) receivers.post(LOCAL, "http://127.0.0.1:" + port + "/")).retryAfter();
  }

  @Test
  void overTlsTheNameIsAskedForAndTheCertificateMustBeItsOwn(@TempDir Path folder)
      throws Exception {
    PfxOptions own = TestCertificate.forName(folder, "receiver.test");
    int port = secureReceiver(own);
    OutgoingConfig config = LOCAL.withResolver(host -> List.of(LOOPBACK)).withTrust(own);

    PostResult result = receivers.post(config, "https://receiver.test:" + port + "/");
    PostResult other = receivers.post(config, "https://another.test:" + port + "/");
    PostResult untrusted =
        receivers.post(
            LOCAL.withResolver(host -> List.of(LOOPBACK)), "https://receiver.test:" + port + "/");

    assertThat(result).isInstanceOf(Answered.class);
    assertThat(receivers.arrived()).containsExactly("receiver.test POST / receiver.test:" + port);
    assertThat(other).isInstanceOf(Failed.class);
    assertThat(untrusted).isInstanceOf(Failed.class);
  }

  private int secureReceiver(PfxOptions certificate) throws Exception {
    return receivers.listen(
        new HttpServerOptions().setSsl(true).setSni(true).setKeyCertOptions(certificate),
        request -> {
          receivers
              .arrived()
              .add(
                  "%s %s %s %s"
                      .formatted(
                          request.connection().indicatedServerName(),
                          request.method(),
                          request.uri(),
                          request.getHeader("Host")));
          request.response().end();
        });
  }
}
