package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.edge.EdgeConfig;
import dev.lockstep.server.edge.HttpLimits;
import dev.lockstep.server.edge.Trust;
import dev.lockstep.server.http.HttpApi;
import io.netty.util.concurrent.EventExecutor;
import io.vertx.core.internal.VertxInternal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many connections there may be, from where, and which threads serve them. */
@Timeout(120)
class ConnectionBoundsTest {
  private static final int PER_ADDRESS = 3;
  private static final String HEALTH = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

  @Test
  void oneAddressHasSoManyConnectionsAndOthersHaveTheirs() throws Exception {
    EdgeConfig edge =
        EdgeConfig.DEFAULT.withLimits(HttpLimits.DEFAULT.withConnections(100, PER_ADDRESS));
    try (HttpApi api = HttpApi.listen("127.0.0.1", 0, edge)) {
      String url = "http://127.0.0.1:" + api.port();
      List<RawHttp> open = open(url, PER_ADDRESS);
      try (RawHttp tooMany = RawHttp.to(url)) {
        RawHttp.Got answer = tooMany.read();
        answer.expectProblem(429, "too-many-connections");
        assertThat(answer.headers())
            .containsKey("retry-after")
            .containsEntry("connection", "close");
        tooMany.expectEnd();
      }
      try (RawHttp other = RawHttp.to(url, "127.0.0.2")) {
        assertThat(other.get("/healthz").read().status()).isEqualTo(200);
      }
      open.get(0).close();
      Await.until("a place is free again", () -> served(url));
      for (RawHttp connection : open.subList(1, PER_ADDRESS)) {
        assertThat(connection.get("/healthz").read().status()).isEqualTo(200);
        connection.close();
      }
    }
  }

  @Test
  void thereAreSoManyConnectionsInAll() throws Exception {
    EdgeConfig edge = EdgeConfig.DEFAULT.withLimits(HttpLimits.DEFAULT.withConnections(3, 3));
    try (HttpApi api = HttpApi.listen("127.0.0.1", 0, edge)) {
      String url = "http://127.0.0.1:" + api.port();
      List<RawHttp> open = open(url, 3);
      try (RawHttp tooMany = RawHttp.to(url, "127.0.0.2")) {
        tooMany.read().expectProblem(503, "overloaded");
        tooMany.expectEnd();
      }
      for (RawHttp connection : open) {
        connection.close();
      }
      Await.until("there is room again", () -> served(url));
    }
  }

  @Test
  void asManyAgainAreToldSoAndFurtherOnesAreClosedWithoutAWord() throws Exception {
    EdgeConfig edge = EdgeConfig.DEFAULT.withLimits(HttpLimits.DEFAULT.withConnections(2, 2));
    List<RawHttp> open = new ArrayList<>();
    try (HttpApi api = HttpApi.listen("127.0.0.1", 0, edge)) {
      String url = "http://127.0.0.1:" + api.port();
      open.addAll(open(url, 2));
      RawHttp told = RawHttp.to(url, "127.0.0.2");
      open.add(told);
      told.read().expectProblem(503, "overloaded");
      // Those that were told are let go after a while: some more than there is room for.
      Await.until(
          "one is closed without an answer",
          () -> {
            RawHttp next = RawHttp.to(url, "127.0.0.2");
            open.add(next);
            return next.readUnlessClosed() == null;
          });
    } finally {
      for (RawHttp connection : open) {
        connection.close();
      }
    }
  }

  @Test
  void aTrustedProxyHasNoBoundOfItsOwn() throws Exception {
    EdgeConfig edge =
        EdgeConfig.DEFAULT
            .withLimits(HttpLimits.DEFAULT.withConnections(100, PER_ADDRESS))
            .withTrust(Trust.DEFAULT.withProxies("127.0.0.1"));
    try (HttpApi api = HttpApi.listen("127.0.0.1", 0, edge)) {
      for (RawHttp connection : open("http://127.0.0.1:" + api.port(), 3 * PER_ADDRESS)) {
        connection.close();
      }
    }
  }

  @Test
  void everyEventLoopServes() throws Exception {
    EdgeConfig edge = EdgeConfig.DEFAULT.withLimits(HttpLimits.DEFAULT.withEventLoops(2));
    try (HttpApi api = HttpApi.listen("127.0.0.1", 0, edge)) {
      List<EventExecutor> loops = new ArrayList<>();
      ((VertxInternal) api.vertx()).nettyEventLoopGroup().forEach(loops::add);
      assertThat(loops).hasSize(2);
      for (EventExecutor loop : loops) {
        halfAreServedWithout(loop, "http://127.0.0.1:" + api.port());
      }
    }
  }

  /** Whichever loop is busy, the other has two of four connections. */
  private static void halfAreServedWithout(EventExecutor loop, String url) throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    ExecutorService clients = Executors.newCachedThreadPool();
    try {
      CountDownLatch busy = new CountDownLatch(1);
      loop.execute(
          () -> {
            busy.countDown();
            awaitQuietly(end);
          });
      busy.await();
      CyclicBarrier halfServed = new CyclicBarrier(3);
      List<Future<Integer>> asked = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        asked.add(clients.submit(() -> ask(url, halfServed)));
      }
      halfServed.await(60, TimeUnit.SECONDS);
      assertThat(halfServed.getNumberWaiting()).isZero();
      end.countDown();
      halfServed.await(60, TimeUnit.SECONDS);
      for (Future<Integer> one : asked) {
        assertThat(one.get()).isEqualTo(200);
      }
    } finally {
      end.countDown();
      clients.shutdownNow();
    }
  }

  @Test
  void manyRequestsMayBeOnTheirWayAtOnce() throws Exception {
    int asked = 20_000;
    ExecutorService sender = Executors.newSingleThreadExecutor();
    try (HttpApi api = HttpApi.listen("127.0.0.1", 0, EdgeConfig.DEFAULT);
        RawHttp client = RawHttp.to("http://127.0.0.1:" + api.port())) {
      Future<Boolean> sent = sender.submit(() -> client.trySend(HEALTH.repeat(asked)));
      for (int i = 0; i < asked; i++) {
        assertThat(client.read().status()).isEqualTo(200);
      }
      assertThat(sent.get()).isTrue();
    } finally {
      sender.shutdownNow();
    }
  }

  @Test
  void aClientThatAsksAndTakesNothingIsNotAnsweredWithoutEnd() throws Exception {
    Duration shortly = Duration.ofMillis(500);
    EdgeConfig edge =
        EdgeConfig.DEFAULT.withLimits(
            HttpLimits.DEFAULT.withAnswering(Duration.ofMinutes(10), shortly, shortly));
    int asked = 300_000;
    ExecutorService sender = Executors.newSingleThreadExecutor();
    try (HttpApi api = HttpApi.listen("127.0.0.1", 0, edge);
        RawHttp client = RawHttp.to("http://127.0.0.1:" + api.port())) {
      // Waits when the server reads no more, and fails when it has had enough.
      assertThat(sender.submit(() -> client.trySend(HEALTH.repeat(asked))).get()).isFalse();
      assertThat(answered(api)).isBetween(1.0, asked / 3.0);
    } finally {
      sender.shutdownNow();
    }
  }

  private static double answered(HttpApi api) {
    return api.metrics()
        .scrape()
        .lines()
        .filter(line -> line.startsWith("lockstep_http_requests_total{status=\"2xx\"}"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  private static int ask(String url, CyclicBarrier answered) throws Exception {
    try (RawHttp connection = RawHttp.to(url)) {
      int status = connection.get("/healthz").read().status();
      answered.await();
      return status;
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static List<RawHttp> open(String url, int number) throws Exception {
    List<RawHttp> open = new ArrayList<>();
    for (int i = 0; i < number; i++) {
      RawHttp connection = RawHttp.to(url);
      assertThat(connection.get("/healthz").read().status()).isEqualTo(200);
      open.add(connection);
    }
    return open;
  }

  private static boolean served(String url) throws Exception {
    try (RawHttp connection = RawHttp.to(url)) {
      RawHttp.Got answer = connection.get("/healthz").readUnlessClosed();
      return answer != null && answer.status() == 200;
    }
  }
}
