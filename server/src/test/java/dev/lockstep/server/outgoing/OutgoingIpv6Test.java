package dev.lockstep.server.outgoing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lockstep.server.outgoing.PostResult.Answered;
import dev.lockstep.server.outgoing.PostResult.Failed;
import dev.lockstep.server.outgoing.PostResult.Refused;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Receivers that have an IPv6 address, or nothing else. */
@Timeout(120)
class OutgoingIpv6Test {
  private static final Vertx vertx = Vertx.vertx();
  private static final byte[] BODY = "{}".getBytes(StandardCharsets.UTF_8);
  private static final InetAddress SIX = address("::1");
  private static final OutgoingConfig LOCAL =
      OutgoingConfig.DEFAULT
          .withPrivateTargets(true)
          .withTimeouts(Duration.ofSeconds(10), Duration.ofSeconds(60));

  private final List<AutoCloseable> opened = new ArrayList<>();
  private final Queue<String> arrived = new ConcurrentLinkedQueue<>();

  @BeforeAll
  static void onlyWhereThereIsIpv6() {
    boolean there;
    try (ServerSocket probe = new ServerSocket(0, 1, SIX)) {
      there = probe.isBound();
    } catch (IOException e) {
      there = false;
    }
    assumeTrue(there, "This machine has no IPv6 loopback address");
  }

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
  void anAddressInBracketsIsReachedAndNamedInTheHostHeader() throws Exception {
    int port = receiver("::1", 0, new HttpServerOptions());
    assertThat(post(LOCAL, "http://[::1]:" + port + "/a?b=c")).isInstanceOf(Answered.class);
    assertThat(arrived).containsExactly("::1 /a?b=c [::1]:" + port);
  }

  @Test
  void aNameThatHasOnlyAnIpv6AddressIsReachedUnderItsOwnName() throws Exception {
    int port = receiver("::1", 0, new HttpServerOptions());
    OutgoingConfig config = LOCAL.withResolver(host -> List.of(SIX));
    assertThat(post(config, "http://six.test:" + port + "/")).isInstanceOf(Answered.class);
    assertThat(arrived).containsExactly("::1 / six.test:" + port);
  }

  /** The system's resolver gives addresses that carry the name; here nobody else knows it. */
  @ParameterizedTest
  @ValueSource(strings = {"::1", "127.0.0.1"})
  void anAddressThatCarriesItsNameIsConnectedToAndTheNameIsNotAskedForAgain(String literal)
      throws Exception {
    int port = receiver(literal, 0, new HttpServerOptions());
    InetAddress named = InetAddress.getByAddress("only.test", address(literal).getAddress());
    OutgoingConfig config = LOCAL.withResolver(host -> List.of(named));
    assertThat(post(config, "http://only.test:" + port + "/")).isInstanceOf(Answered.class);
    assertThat(arrived).containsExactly(literal + " / only.test:" + port);
  }

  @Test
  void overTlsTheNameOfTheUrlIsAskedForAndTheCertificateMustBeItsOwn(@TempDir Path folder)
      throws Exception {
    var own = TestCertificate.forName(folder, "six.test");
    int port =
        receiver(
            "::1", 0, new HttpServerOptions().setSsl(true).setSni(true).setKeyCertOptions(own));
    OutgoingConfig config = LOCAL.withResolver(host -> List.of(SIX)).withTrust(own);
    assertThat(post(config, "https://six.test:" + port + "/")).isInstanceOf(Answered.class);
    assertThat(post(config, "https://other.test:" + port + "/")).isInstanceOf(Failed.class);
    assertThat(arrived).containsExactly("::1 / six.test:" + port + " for six.test");
  }

  /** A connection that is kept belongs to the address it was made to, not to the name. */
  @Test
  void aConnectionToOneAddressIsNotUsedForAnother() throws Exception {
    int port = receiver("::1", 0, new HttpServerOptions());
    receiver("127.0.0.1", port, new HttpServerOptions());
    InetAddress four = address("127.0.0.1");
    AtomicReference<InetAddress> meant = new AtomicReference<>(SIX);
    OutgoingHttp http = new OutgoingHttp(vertx, LOCAL.withResolver(host -> List.of(meant.get())));
    opened.add(http);
    for (InetAddress next : List.of(SIX, four, SIX, four)) {
      meant.set(next);
      assertThat(post(http, "http://both.test:" + port + "/")).isInstanceOf(Answered.class);
    }
    // Nobody listens there; a connection to ::1 is open, and was made for the same name.
    meant.set(address("::2"));
    assertThat(post(http, "http://both.test:" + port + "/")).isInstanceOf(Failed.class);
    assertThat(arrived.stream().map(line -> line.substring(0, line.indexOf(' '))))
        .containsExactly("::1", "127.0.0.1", "::1", "127.0.0.1");
  }

  @Test
  void whenAnIpv6AddressIsDeadTheNextIsTried() throws Exception {
    int port = receiver("127.0.0.1", 0, new HttpServerOptions());
    OutgoingConfig config = LOCAL.withResolver(host -> List.of(SIX, address("127.0.0.1")));
    assertThat(post(config, "http://two.test:" + port + "/")).isInstanceOf(Answered.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"::1", "fe80::1", "fc00::1", "fd12::1", "::ffff:10.0.0.1", "::"})
  void aPrivateIpv6AddressIsRefusedUnlessAllowed(String private6) throws Exception {
    OutgoingConfig config = OutgoingConfig.DEFAULT.withResolver(host -> List.of(address(private6)));
    assertThat(post(config, "http://inside.test/")).isInstanceOf(Refused.class);
    assertThatThrownBy(() -> Target.parse("http://[" + private6 + "]/", false))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://[fe80::1%25eth0]/", "http://[::1%lo]/", "http://[::1%1]/"})
  void aZoneIsRefusedEvenWherePrivateTargetsAreAllowed(String url) {
    assertThatThrownBy(() -> Target.parse(url, true)).isInstanceOf(IllegalArgumentException.class);
  }

  private PostResult post(OutgoingConfig config, String url) throws Exception {
    OutgoingHttp http = new OutgoingHttp(vertx, config);
    opened.add(http);
    return post(http, url);
  }

  private static PostResult post(OutgoingHttp http, String url) throws Exception {
    return http.post(http.target(url), Map.of(), BODY)
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
  }

  /** Notes what arrives: where, and under which name. */
  private int receiver(String address, int port, HttpServerOptions options) throws Exception {
    HttpServer ready =
        vertx
            .createHttpServer(options)
            .requestHandler(
                request -> {
                  String name = request.connection().indicatedServerName();
                  arrived.add(
                      "%s %s %s%s"
                          .formatted(
                              address,
                              request.uri(),
                              request.getHeader("Host"),
                              name == null || name.isEmpty() ? "" : " for " + name));
                  request.response().end();
                })
            .listen(port, address)
            .toCompletionStage()
            .toCompletableFuture()
            .get(30, TimeUnit.SECONDS);
    opened.add(() -> ready.close().await());
    return ready.actualPort();
  }

  private static InetAddress address(String literal) {
    try {
      return InetAddress.getByName(literal);
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }
}
