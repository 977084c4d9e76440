package dev.lockstep.server.outgoing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.outgoing.PostResult.Answered;
import dev.lockstep.server.outgoing.PostResult.Failed;
import dev.lockstep.server.outgoing.PostResult.Refused;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PfxOptions;
import java.net.InetAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Over real sockets: where a request goes, and what may come back. */
@Timeout(120)
class OutgoingHttpTest {
  private static final Vertx vertx = Vertx.vertx();
  private static final byte[] BODY = "{\"n\":1}".getBytes(StandardCharsets.UTF_8);

  /** Loopback is all a test can reach. */
  private static final OutgoingConfig LOCAL =
      OutgoingConfig.DEFAULT
          .withPrivateTargets(true)
          .withTimeouts(Duration.ofSeconds(10), Duration.ofSeconds(60));

  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  private final List<AutoCloseable> opened = new ArrayList<>();
  private final Queue<String> arrived = new ConcurrentLinkedQueue<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable one : opened) {
      one.close();
    }
  }

  @AfterAll
  static void stop() {
    vertx.close().await();
  }

  @Test
  void aRequestArrivesWithItsHeadersAndItsBytes() throws Exception {
    int port = receiver(request -> request.response().setStatusCode(202).end("thanks"));

    PostResult result = post(LOCAL, "http://127.0.0.1:" + port + "/a?b=c", Map.of("X-Note", "n"));

    assertThat(result).isEqualTo(new Answered(202, Optional.empty(), "thanks"));
    assertThat(arrived).containsExactly("POST /a?b=c 127.0.0.1:" + port + " n {\"n\":1}");
  }

  @Test
  void aNameIsResolvedOnceAndTheCheckedAddressIsTheOneConnectedTo() throws Exception {
    int port = receiver(request -> request.response().end());
    AtomicInteger asked = new AtomicInteger();
    Resolver first =
        host -> {
          assertThat(host).isEqualTo("receiver.test");
          return List.of(asked.getAndIncrement() == 0 ? LOOPBACK : unreachable());
        };

    PostResult result = post(LOCAL.withResolver(first), "http://receiver.test:" + port + "/hook");

    assertThat(result).isInstanceOf(Answered.class);
    assertThat(asked).hasValue(1);
    assertThat(arrived).containsExactly("POST /hook receiver.test:" + port + " null {\"n\":1}");
  }

  @Test
  void aNameThatMeansAnotherAddressWhenItIsConnectedToFoolsTheNaiveGuardOnly() throws Exception {
    int port = receiver(request -> request.response().end());
    Resolver rebinding = rebinding();
    assertThat(naivePost(rebinding, "rebind.test", port)).as("naive").isTrue();
    assertThat(arrived).hasSize(1);
    arrived.clear();

    PostResult result =
        post(
            OutgoingConfig.DEFAULT
                .withResolver(rebinding())
                .withTimeouts(Duration.ofMillis(300), Duration.ofSeconds(2)),
            "http://rebind.test:" + port + "/");

    // What was checked is not reached from here; what the name means later is not tried.
    assertThat(result).isInstanceOf(Failed.class);
    assertThat(arrived).isEmpty();
  }

  /** Public for who asks first, loopback for who asks again. */
  private static Resolver rebinding() {
    AtomicInteger asked = new AtomicInteger();
    return host -> List.of(asked.getAndIncrement() == 0 ? unreachable() : LOOPBACK);
  }

  private static InetAddress unreachable() {
    try {
      return InetAddress.getByName("8.8.8.8");
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  /** Checks, then connects by the name: two questions, two answers. */
  private static boolean naivePost(Resolver resolver, String host, int port) throws Exception {
    for (InetAddress address : resolver.resolve(host)) {
      if (PublicAddress.otherPurpose(address).isPresent()) {
        return false;
      }
    }
    try (Socket socket = new Socket(resolver.resolve(host).get(0), port)) {
      socket
          .getOutputStream()
          .write(
              "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                  .getBytes(StandardCharsets.UTF_8));
      return socket.getInputStream().readAllBytes().length > 0;
    }
  }

  @Test
  void aNameOfWhichAnyAddressIsNotPublicIsRefusedAndNothingIsSent() throws Exception {
    int port = receiver(request -> request.response().end());
    for (List<InetAddress> addresses :
        List.of(List.of(LOOPBACK), List.of(unreachable(), LOOPBACK))) {
      PostResult result =
          post(
              OutgoingConfig.DEFAULT.withResolver(host -> addresses),
              "http://inside.test:" + port + "/");
      assertThat(result).isEqualTo(new Refused("inside.test leads to a loopback address"));
    }
    assertThat(arrived).isEmpty();
  }

  @Test
  void aNameWhoseServersDoNotAnswerHoldsUpNoOther() throws Exception {
    int port = receiver(request -> request.response().end());
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    AtomicInteger asked = new AtomicInteger();
    Resolver resolver =
        host -> {
          if (host.equals("silent.test")) {
            asked.incrementAndGet();
            begun.countDown();
            await(released);
          }
          return List.of(LOOPBACK);
        };
    OutgoingHttp http = new OutgoingHttp(vertx, LOCAL.withResolver(resolver));
    opened.add(http);
    List<CompletableFuture<PostResult>> waiting = new ArrayList<>();
    try {
      for (int i = 0; i < 40; i++) {
        Target silent = http.target("http://silent.test:" + port + "/");
        waiting.add(http.post(silent, Map.of(), BODY).toCompletableFuture());
      }
      Target other = http.target("http://other.test:" + port + "/");
      assertThat(http.post(other, Map.of(), BODY).toCompletableFuture().get(30, TimeUnit.SECONDS))
          .isInstanceOf(Answered.class);
      await(begun);
      assertThat(asked).as("one question for all that wait").hasValue(1);
    } finally {
      released.countDown();
    }
    for (CompletableFuture<PostResult> one : waiting) {
      assertThat(one.get()).isInstanceOf(Answered.class);
    }
  }

  private static void await(CountDownLatch latch) throws UnknownHostException {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new UnknownHostException("interrupted");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 302, 303, 307, 308})
  void aRedirectIsNotFollowed(int status) throws Exception {
    int port =
        receiver(
            request ->
                request.response().setStatusCode(status).putHeader("Location", "/elsewhere").end());

    PostResult result = post(LOCAL, "http://127.0.0.1:" + port + "/here");

    assertThat(((Answered) result).status()).isEqualTo(status);
    assertThat(arrived).hasSize(1);
  }

  @Test
  void anAnswerWithoutEndIsCutOff() throws Exception {
    int port =
        receiver(
            request -> {
              var response = request.response().setChunked(true).setStatusCode(500);
              Buffer part = Buffer.buffer("x".repeat(10_000));
              response.drainHandler(drained -> write(response, part));
              write(response, part);
            });

    PostResult result = post(LOCAL.withMaxAnswerBytes(50_000), "http://127.0.0.1:" + port + "/");

    assertThat(result).isEqualTo(new Answered(500, Optional.empty(), "x".repeat(200)));
  }

  private static void write(io.vertx.core.http.HttpServerResponse response, Buffer part) {
    while (!response.closed() && !response.writeQueueFull()) {
      response.write(part.copy());
    }
  }

  @Test
  void whoNeverAnswersIsGivenUp() throws Exception {
    int silent = receiver(request -> {});
    int slow =
        receiver(
            request -> request.response().setChunked(true).setStatusCode(200).write("a moment…"));
    OutgoingConfig impatient = LOCAL.withTimeouts(Duration.ofMillis(200), Duration.ofMillis(300));

    for (int port : List.of(silent, slow)) {
      assertThat(post(impatient, "http://127.0.0.1:" + port + "/"))
          .isEqualTo(new Failed("No answer within 300 ms"));
    }
  }

  @Test
  void whoCannotBeReachedIsSaidToBeSo() throws Exception {
    int port = receiver(request -> request.connection().close());
    assertThat(post(LOCAL, "http://127.0.0.1:" + port + "/")).isInstanceOf(Failed.class);
    assertThat(post(LOCAL, "http://127.0.0.1:1/")).isInstanceOf(Failed.class);
    Resolver nobody =
        host -> {
          throw new UnknownHostException(host);
        };
    assertThat(post(LOCAL.withResolver(nobody), "http://nobody.test/"))
        .isEqualTo(new Failed("There is no host nobody.test"));
  }

  @Test
  void whenAnAddressIsDeadTheNextIsTried() throws Exception {
    int port = receiver(request -> request.response().end());
    InetAddress dead = InetAddress.getByName("127.0.0.2");
    // The receiver listens on 127.0.0.1 only, so this one refuses.
    PostResult result =
        post(LOCAL.withResolver(host -> List.of(dead, LOOPBACK)), "http://two.test:" + port + "/");
    assertThat(result).isInstanceOf(Answered.class);
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
        receiver(
            request ->
                request.response().setStatusCode(503).putHeader("Retry-After", header).end());
    return ((Answered) post(LOCAL, "http://127.0.0.1:" + port + "/")).retryAfter();
  }

  @Test
  void overTlsTheNameIsAskedForAndTheCertificateMustBeItsOwn(@TempDir Path folder)
      throws Exception {
    PfxOptions own = certificate(folder, "receiver.test");
    int port = secureReceiver(own);
    OutgoingConfig config = LOCAL.withResolver(host -> List.of(LOOPBACK)).withTrust(own);

    PostResult result = post(config, "https://receiver.test:" + port + "/");
    PostResult other = post(config, "https://another.test:" + port + "/");
    PostResult untrusted =
        post(LOCAL.withResolver(host -> List.of(LOOPBACK)), "https://receiver.test:" + port + "/");

    assertThat(result).isInstanceOf(Answered.class);
    assertThat(arrived).containsExactly("receiver.test POST / receiver.test:" + port);
    assertThat(other).isInstanceOf(Failed.class);
    assertThat(untrusted).isInstanceOf(Failed.class);
  }

  /** With the JDK's own tool: a certificate for a name, and the key to it. */
  private static PfxOptions certificate(Path folder, String host) throws Exception {
    Path file = folder.resolve("receiver.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                "EC",
                "-alias",
                "receiver",
                "-dname",
                "CN=" + host,
                "-ext",
                "SAN=dns:" + host,
                "-storetype",
                "PKCS12",
                "-storepass",
                "for-a-test",
                "-keystore",
                file.toString())
            .redirectErrorStream(true)
            .start();
    keytool.getInputStream().readAllBytes();
    assertThat(keytool.waitFor()).isZero();
    return new PfxOptions().setPath(file.toString()).setPassword("for-a-test");
  }

  private int secureReceiver(PfxOptions certificate) throws Exception {
    HttpServer server =
        vertx
            .createHttpServer(
                new HttpServerOptions().setSsl(true).setSni(true).setKeyCertOptions(certificate))
            .requestHandler(
                request -> {
                  arrived.add(
                      "%s %s %s %s"
                          .formatted(
                              request.connection().indicatedServerName(),
                              request.method(),
                              request.uri(),
                              request.getHeader("Host")));
                  request.response().end();
                });
    return listening(server);
  }

  private PostResult post(OutgoingConfig config, String url) throws Exception {
    return post(config, url, Map.of());
  }

  private PostResult post(OutgoingConfig config, String url, Map<String, String> headers)
      throws Exception {
    OutgoingHttp http = new OutgoingHttp(vertx, config);
    opened.add(http);
    return http.post(http.target(url), headers, BODY)
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
  }

  /** Notes what arrives, then answers. */
  private int receiver(Consumer<HttpServerRequest> answer) throws Exception {
    return listening(
        vertx
            .createHttpServer()
            .requestHandler(
                request ->
                    request
                        .body()
                        .onSuccess(
                            body -> {
                              arrived.add(
                                  "%s %s %s %s %s"
                                      .formatted(
                                          request.method(),
                                          request.uri(),
                                          request.getHeader("Host"),
                                          request.getHeader("X-Note"),
                                          body));
                              answer.accept(request);
                            })));
  }

  private int listening(HttpServer server) throws Exception {
    HttpServer ready =
        server
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get(30, TimeUnit.SECONDS);
    opened.add(() -> ready.close().await());
    return ready.actualPort();
  }
}
