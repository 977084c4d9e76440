package dev.lockstep.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.testkit.TcpProxy.Passage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TcpProxyTest {

  private static final int READ_TIMEOUT_MS = 20_000;

  private ServerSocket echo;

  /** A server that sends back what it gets, and closes when its client does. */
  @BeforeEach
  void startEcho() throws IOException {
    echo = new ServerSocket(0, 0, loopback());
    Thread acceptor = new Thread(this::acceptAll, "echo");
    acceptor.setDaemon(true);
    acceptor.start();
  }

  @AfterEach
  void stopEcho() throws IOException {
    echo.close();
  }

  @Test
  void forwardsBothWaysAndTheEndToo() throws IOException {
    try (TcpProxy proxy = proxy();
        Socket client = connect(proxy)) {
      assertThat(exchange(client, "hello")).isEqualTo("hello");
      client.shutdownOutput();
      assertThat(client.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void aDelayHoldsEachChunkBackAndEndsWhenItIsSetToZero() throws IOException {
    try (TcpProxy proxy = proxy();
        Socket client = connect(proxy)) {
      proxy.delay(Duration.ofMillis(50));
      long startedAt = System.nanoTime();
      assertThat(exchange(client, "slow")).isEqualTo("slow");
      // Not an expectation of speed: two delays cannot take less than their sum.
      assertThat(Duration.ofNanos(System.nanoTime() - startedAt))
          .isGreaterThanOrEqualTo(Duration.ofMillis(100));

      proxy.delay(Duration.ofDays(1));
      proxy.delay(Duration.ZERO);
      assertThat(exchange(client, "fast")).isEqualTo("fast");
    }
  }

  @Test
  void whatIsSwallowedIsLostAndItsConnectionStaysSilent() throws IOException {
    try (TcpProxy proxy = proxy();
        Socket before = connect(proxy);
        Socket quiet = connect(proxy)) {
      assertThat(exchange(before, "warm")).isEqualTo("warm");
      assertThat(exchange(quiet, "warm")).isEqualTo("warm");
      proxy.swallow();
      send(before, "lost");
      assertSilent(before);

      proxy.deliver();
      send(before, "lost, too");
      assertSilent(before);
      assertThat(exchange(quiet, "heard")).isEqualTo("heard");
      try (Socket after = connect(proxy)) {
        assertThat(exchange(after, "new")).isEqualTo("new");
      }
    }
  }

  @Test
  void aStallKeepsConnectionsOpenAndSilentUntilItEnds() throws IOException {
    try (TcpProxy proxy = proxy();
        Socket before = connect(proxy)) {
      assertThat(exchange(before, "warm")).isEqualTo("warm");
      proxy.stall();
      try (Socket during = connect(proxy)) {
        send(before, "old");
        send(during, "new");
        assertSilent(before);
        assertSilent(during);

        proxy.resume();
        assertThat(receive(before, 3)).isEqualTo("old");
        assertThat(receive(during, 3)).isEqualTo("new");
      }
    }
  }

  @Test
  void aCutResetsWhatIsOpenAndNothingElse() throws IOException {
    try (TcpProxy proxy = proxy();
        Socket client = connect(proxy)) {
      assertThat(exchange(client, "warm")).isEqualTo("warm");
      assertThat(proxy.connections()).isEqualTo(1);

      assertThat(proxy.cut()).isEqualTo(1);
      assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(IOException.class);
      assertThat(proxy.connections()).isZero();
      try (Socket next = connect(proxy)) {
        assertThat(exchange(next, "again")).isEqualTo("again");
      }
    }
  }

  @Test
  void aCutReachesAStalledConnection() throws IOException {
    try (TcpProxy proxy = proxy();
        Socket client = connect(proxy)) {
      assertThat(exchange(client, "warm")).isEqualTo("warm");
      proxy.stall();
      send(client, "lost");
      proxy.cut();
      assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(IOException.class);
    }
  }

  @Test
  void refusingConcernsNewConnectionsOnly() throws IOException {
    try (TcpProxy proxy = proxy();
        Socket old = connect(proxy)) {
      assertThat(exchange(old, "warm")).isEqualTo("warm");
      proxy.refuse();
      assertThatThrownBy(
              () -> {
                try (Socket refused = connect(proxy)) {
                  refused.getInputStream().read();
                }
              })
          .isInstanceOf(IOException.class);
      assertThat(exchange(old, "still")).isEqualTo("still");

      proxy.accept();
      try (Socket next = connect(proxy)) {
        assertThat(exchange(next, "again")).isEqualTo("again");
      }
    }
  }

  @Test
  void aTapSeesAndChangesTheBytesOfBothDirections() throws IOException {
    TcpProxy.Tap shouting =
        new TcpProxy.Tap() {
          @Override
          public Passage toServer(byte[] bytes) {
            return Passage.forward(
                text(bytes).replace('a', 'b').getBytes(StandardCharsets.US_ASCII));
          }

          @Override
          public Passage toClient(byte[] bytes) {
            return text(bytes).equals("bye")
                ? Passage.cut()
                : Passage.forward(
                    text(bytes).replace('c', 'd').getBytes(StandardCharsets.US_ASCII));
          }
        };
    try (TcpProxy proxy = TcpProxy.to("127.0.0.1", echo.getLocalPort(), () -> shouting);
        Socket client = connect(proxy)) {
      assertThat(exchange(client, "abc")).isEqualTo("bbd");
      send(client, "bye");
      assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(IOException.class);
    }
  }

  @Test
  void aTapCanLetTheServerFinishBeforeTheClientIsCut() throws Exception {
    CountDownLatch serverDone = new CountDownLatch(1);
    TcpProxy.Tap tap =
        new TcpProxy.Tap() {
          @Override
          public Passage toServer(byte[] bytes) {
            return Passage.finishThenCut(new byte[0]);
          }

          @Override
          public void serverDone() {
            serverDone.countDown();
          }
        };
    try (TcpProxy proxy = TcpProxy.to("127.0.0.1", echo.getLocalPort(), () -> tap);
        Socket client = connect(proxy)) {
      send(client, "lost");
      assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(IOException.class);
      assertThat(serverDone.getCount()).isZero();
    }
  }

  @Test
  void aTapCanLetTheClientLeaveBeforeTheServerIsDone() throws Exception {
    CountDownLatch serverDone = new CountDownLatch(1);
    ServerSocket slow = new ServerSocket(0, 0, loopback());
    TcpProxy.Tap tap =
        new TcpProxy.Tap() {
          @Override
          public Passage toServer(byte[] bytes) {
            return Passage.forwardThenLeave(bytes);
          }

          @Override
          public void serverDone() {
            serverDone.countDown();
          }
        };
    try (slow;
        TcpProxy proxy = TcpProxy.to("127.0.0.1", slow.getLocalPort(), () -> tap);
        Socket client = connect(proxy);
        Socket server = slow.accept()) {
      send(client, "work");
      assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(IOException.class);

      assertThat(receive(server, 4)).isEqualTo("work");
      assertThat(serverDone.getCount()).isEqualTo(1);
      server.shutdownOutput();
      serverDone.await();
    }
  }

  @Test
  void closingEndsConnectionsEvenWhileStalled() throws IOException {
    TcpProxy proxy = proxy();
    try (Socket client = connect(proxy)) {
      assertThat(exchange(client, "warm")).isEqualTo("warm");
      proxy.stall();
      send(client, "lost");
      proxy.close();
      proxy.close();
      assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(IOException.class);
    }
    assertThatThrownBy(() -> connect(proxy).close()).isInstanceOf(IOException.class);
  }

  private TcpProxy proxy() {
    return TcpProxy.to("127.0.0.1", echo.getLocalPort());
  }

  private static Socket connect(TcpProxy proxy) throws IOException {
    Socket client = new Socket(loopback(), proxy.port());
    client.setSoTimeout(READ_TIMEOUT_MS);
    return client;
  }

  private static String exchange(Socket client, String text) throws IOException {
    send(client, text);
    return receive(client, text.length());
  }

  private static void send(Socket client, String text) throws IOException {
    client.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static String receive(Socket client, int length) throws IOException {
    return text(client.getInputStream().readNBytes(length));
  }

  /**
   * That something does not happen can only be watched for a while; a slow machine makes this no
   * less true.
   */
  private static void assertSilent(Socket client) throws IOException {
    client.setSoTimeout(100);
    assertThatThrownBy(() -> client.getInputStream().read())
        .isInstanceOf(SocketTimeoutException.class);
    client.setSoTimeout(READ_TIMEOUT_MS);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.US_ASCII);
  }

  private static InetAddress loopback() throws IOException {
    return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
  }

  private void acceptAll() {
    while (!echo.isClosed()) {
      try {
        Socket peer = echo.accept();
        Thread thread = new Thread(() -> echo(peer), "echo-peer");
        thread.setDaemon(true);
        thread.start();
      } catch (IOException e) {
        return;
      }
    }
  }

  private static void echo(Socket peer) {
    try (peer) {
      peer.getInputStream().transferTo(peer.getOutputStream());
    } catch (IOException e) {
      // The connection was cut, as many of these tests intend.
    }
  }
}
