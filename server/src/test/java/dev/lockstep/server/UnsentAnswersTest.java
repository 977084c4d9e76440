package dev.lockstep.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.edge.EdgeConfig;
import dev.lockstep.server.edge.HttpLimits;
import dev.lockstep.server.edge.MemoryLimits;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients that ask and read nothing cost little, and not without end. */
@Timeout(120)
class UnsentAnswersTest {
  private static final int MIB = 1024 * 1024;
  private static final String DOCS = "GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n";
  private static final int CLIENTS = 60;

  /** The kernel takes the first few answers to a client; then they stay with us. */
  private static final int ASKED = 30;

  @RegisterExtension static final RunningServer server = new RunningServer();

  @Test
  void anAnswerThatIsTheSameForAllIsNotCopiedForEach() throws Exception {
    int bytes = ask(server.url()).body().length();
    long before = directMemory();
    List<Socket> clients = new ArrayList<>();
    try {
      for (int i = 0; i < CLIENTS; i++) {
        clients.add(asking(server.url(), "127.0.0.1"));
      }
      Await.until(
          "the clients leave their answers",
          () -> metric(server.url(), "lockstep_http_unsent_bytes") >= CLIENTS / 2.0 * bytes);
      assertThat(directMemory() - before).isLessThan(CLIENTS / 4L * bytes);
    } finally {
      closeAll(clients);
    }
    Await.until("all is free", () -> metric(server.url(), "lockstep_http_unsent_bytes") == 0);
  }

  @Test
  void whatWaitsForOneAddressHasABoundAndOthersAreServed() throws Exception {
    EdgeConfig edge =
        RunningServer.EDGE.withLimits(
            HttpLimits.DEFAULT.withMemory(MemoryLimits.DEFAULT.withUnsent(4 * MIB, MIB)));
    List<Socket> clients = new ArrayList<>();
    try (Server node = server.start(edge)) {
      Socket patient = asking(node.url(), "127.0.0.2");
      clients.add(patient);
      Await.until("it waits", () -> metric(node.url(), "lockstep_http_unsent_bytes") > 0);
      for (int i = 0; i < 10; i++) {
        clients.add(asking(node.url(), "127.0.0.1"));
      }
      Await.until("some are closed", () -> metric(node.url(), "lockstep_http_dropped_total") >= 6);
      assertThat(metric(node.url(), "lockstep_http_unsent_bytes")).isLessThan(2 * MIB);
      // The one from elsewhere still gets all that it asked for.
      int answer = ask(node.url()).body().length();
      assertThat(patient.getInputStream().readNBytes(ASKED * answer)).hasSize(ASKED * answer);
    } finally {
      closeAll(clients);
    }
  }

  /** Has asked, and reads nothing. */
  private static Socket asking(String url, String from) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(2_048);
    socket.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
    socket.connect(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), URI.create(url).getPort()));
    socket.getOutputStream().write(DOCS.repeat(ASKED).getBytes(US_ASCII));
    return socket;
  }

  private static void closeAll(List<Socket> clients) throws IOException {
    for (Socket client : clients) {
      client.close();
    }
  }

  private static RawHttp.Got ask(String url) throws IOException {
    return RawHttp.exchange(url, "GET /docs", "", new byte[0], Map.of());
  }

  private static double metric(String url, String name) throws IOException {
    return RawHttp.exchange(url, "GET /metrics", "", new byte[0], Map.of())
        .body()
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .sum();
  }

  private static long directMemory() {
    return PlatformDependent.usedDirectMemory()
        + ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum();
  }
}
