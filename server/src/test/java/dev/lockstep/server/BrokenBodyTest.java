package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.lockstep.server.EveryRoute.Operation;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** A body that does not arrive whole is never taken for a request that was done. */
@Timeout(180)
class BrokenBodyTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final List<String> BROKEN =
      List.of("zz\r\n", "-5\r\n", "FFFFFFFFFF\r\n", "\r\n", "5 5\r\n", "0x5\r\n");

  private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  private final Queue<ILoggingEvent> lines = new ConcurrentLinkedQueue<>();
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent line) {
          lines.add(line);
        }
      };

  @BeforeEach
  void listen() {
    appender.start();
    root.addAppender(appender);
  }

  @AfterEach
  void stopListening() {
    root.detachAppender(appender);
  }

  @TestFactory
  Stream<DynamicTest> brokenChunksAreRefusedAndEndTheConnection() throws Exception {
    EveryRoute routes = new EveryRoute(server);
    return routes.operations().stream()
        .filter(one -> one.body().isPresent())
        .flatMap(
            one ->
                BROKEN.stream()
                    .map(
                        chunk ->
                            DynamicTest.dynamicTest(
                                one + " " + chunk.strip(),
                                () -> refused(one, routes.keyFor(one), chunk))));
  }

  private void refused(Operation operation, String key, String chunk) throws Exception {
    try (RawHttp connection = RawHttp.to(server.url())) {
      connection.send(
          operation.method()
              + " "
              + operation.path()
              + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
              + key
              + "\r\nIdempotency-Key: broken\r\nContent-Type: application/json\r\n"
              + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"
              + chunk);
      RawHttp.Got answer = connection.read();
      answer.expectProblem(400, "bad-request");
      assertThat(answer.headers()).containsEntry("connection", "close");
      connection.expectEnd();
    }
    assertThat(lines).allSatisfy(BrokenBodyTest::isOneLineOfOurs);
  }

  @Test
  void clientsThatBreakOffLeaveNoTrace() throws Exception {
    for (int i = 0; i < 50; i++) {
      try (RawHttp connection = RawHttp.to(server.url())) {
        connection.get("/healthz").read();
        connection.send(
            "POST /v1/transfers HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                + RunningServer.OPERATOR_KEY
                + "\r\nContent-Length: 50\r\n\r\n{");
        connection.abort();
      }
    }
    Await.until(
        "the server has noticed that all are gone",
        () ->
            server
                    .anyone()
                    .get("/metrics")
                    .response()
                    .body()
                    .lines()
                    .filter(line -> line.startsWith("lockstep_http_connections "))
                    .mapToDouble(line -> Double.parseDouble(line.split(" ", 2)[1]))
                    .sum()
                <= 2);

    assertThat(lines).isEmpty();
  }

  private static void isOneLineOfOurs(ILoggingEvent line) {
    assertThat(line.getLoggerName()).as("%s", line).startsWith("dev.lockstep");
    assertThat(line.getThrowableProxy()).as("%s", line).isNull();
  }
}
