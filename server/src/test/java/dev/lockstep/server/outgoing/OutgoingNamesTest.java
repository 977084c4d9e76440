package dev.lockstep.server.outgoing;

import static dev.lockstep.server.outgoing.LocalReceivers.BODY;
import static dev.lockstep.server.outgoing.LocalReceivers.LOCAL;
import static dev.lockstep.server.outgoing.LocalReceivers.LOOPBACK;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.outgoing.PostResult.Answered;
import dev.lockstep.server.outgoing.PostResult.Failed;
import dev.lockstep.server.outgoing.PostResult.Refused;
import java.net.InetAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** From a host's name to the address that is connected to, over real sockets. */
@Timeout(120)
class OutgoingNamesTest {
  @RegisterExtension static final LocalReceivers receivers = new LocalReceivers();

  @Test
  void aNameIsResolvedOnceAndTheCheckedAddressIsTheOneConnectedTo() throws Exception {
    int port = receivers.open(request -> request.response().end());
    AtomicInteger asked = new AtomicInteger();
    Resolver first =
        host -> {
          assertThat(host).isEqualTo("receiver.test");
          return List.of(asked.getAndIncrement() == 0 ? LOOPBACK : unreachable());
        };

    PostResult result =
        receivers.post(LOCAL.withResolver(first), "http://receiver.test:" + port + "/hook");

    assertThat(result).isInstanceOf(Answered.class);
    assertThat(asked).hasValue(1);
    assertThat(receivers.arrived())
        .containsExactly("POST /hook receiver.test:" + port + " null {\"n\":1}");
  }

  @Test
  void aNameThatMeansAnotherAddressWhenItIsConnectedToFoolsTheNaiveGuardOnly() throws Exception {
    int port = receivers.open(request -> request.response().end());
    Resolver rebinding = rebinding();
    assertThat(naivePost(rebinding, "rebind.test", port)).as("naive").isTrue();
    assertThat(receivers.arrived()).hasSize(1);
    receivers.arrived().clear();

    PostResult result =
        receivers.post(
            OutgoingConfig.DEFAULT
                .withResolver(rebinding())
                .withTimeouts(Duration.ofMillis(300), Duration.ofSeconds(2)),
            "http://rebind.test:" + port + "/");

    // What was checked is not reached from here; what the name means later is not tried.
    assertThat(result).isInstanceOf(Failed.class);
    assertThat(receivers.arrived()).isEmpty();
  }

  /** Resolves to a public address the first time and to loopback afterwards. */
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
    int port = receivers.open(request -> request.response().end());
    for (List<InetAddress> addresses :
        List.of(List.of(LOOPBACK), List.of(unreachable(), LOOPBACK))) {
      PostResult result =
          receivers.post(
              OutgoingConfig.DEFAULT.withResolver(host -> addresses),
              "http://inside.test:" + port + "/");
      assertThat(result).isEqualTo(new Refused("inside.test leads to a loopback address"));
    }
    assertThat(receivers.arrived()).isEmpty();
  }

  @Test
  void aNameWhoseServersDoNotAnswerHoldsUpNoOther() throws Exception {
    int port = receivers.open(request -> request.response().end());
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
    OutgoingHttp http = receivers.sender(LOCAL.withResolver(resolver));
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

  /** Its caller may be sending it again by now, or have given it up. */
  @Test
  void whatWasReportedAsFailedIsNotSentWhenTheNameIsKnownAtLast() throws Exception {
    int port = receivers.open(request -> request.response().end());
    CountDownLatch released = new CountDownLatch(1);
    Resolver slow =
        host -> {
          await(released);
          return List.of(LOOPBACK);
        };
    Duration little = Duration.ofMillis(500);
    // One connection: whatever is sent late is sent before what is posted after it.
    OutgoingHttp http =
        receivers.sender(
            new OutgoingConfig(true, little, little, 1_024, 1, slow, Optional.empty()));
    Target target = http.target("http://late.test:" + port + "/");
    PostResult first;
    try {
      first = http.post(target, Map.of("X-Note", "late"), BODY).toCompletableFuture().get();
    } finally {
      released.countDown();
    }
    assertThat(first).isEqualTo(new Failed("No answer within 500 ms"));

    PostResult next;
    do {
      next = http.post(target, Map.of("X-Note", "next"), BODY).toCompletableFuture().get();
    } while (!(next instanceof Answered));
    assertThat(receivers.arrived()).isNotEmpty().noneMatch(line -> line.contains("late "));
  }

  private static void await(CountDownLatch latch) throws UnknownHostException {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new UnknownHostException("interrupted");
    }
  }

  @Test
  void whenAnAddressIsDeadTheNextIsTried() throws Exception {
    int port = receivers.open(request -> request.response().end());
    InetAddress dead = InetAddress.getByName("127.0.0.2");
    // The receiver listens on 127.0.0.1 only, so this one refuses.
    PostResult result =
        receivers.post(
            LOCAL.withResolver(host -> List.of(dead, LOOPBACK)), "http://two.test:" + port + "/");
    assertThat(result).isInstanceOf(Answered.class);
  }

  /** A name with hundreds of them would keep a delivery busy until its time is up. */
  @Test
  void ofManyAddressesFourAreTried() throws Exception {
    int port = receivers.open(request -> request.response().end());
    List<InetAddress> addresses = new ArrayList<>();
    for (int i = 2; i <= 5; i++) {
      addresses.add(InetAddress.getByName("127.0.0." + i));
    }
    addresses.add(LOOPBACK);
    String url = "http://many.test:" + port + "/";
    assertThat(receivers.post(LOCAL.withResolver(host -> addresses), url))
        .isInstanceOf(Failed.class);
    assertThat(receivers.post(LOCAL.withResolver(host -> addresses.subList(1, 5)), url))
        .isInstanceOf(Answered.class);
  }
}
