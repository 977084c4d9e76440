package dev.lockstep.server.outgoing;

import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** LocalReceivers on this machine, what arrives there, and senders; gone after each test. */
final class LocalReceivers implements AfterEachCallback, AfterAllCallback {
  static final byte[] BODY = "{\"n\":1}".getBytes(StandardCharsets.UTF_8);

  /** Loopback is all a test can reach. */
  static final OutgoingConfig LOCAL =
      OutgoingConfig.DEFAULT
          .withPrivateTargets(true)
          .withTimeouts(Duration.ofSeconds(10), Duration.ofSeconds(60));

  static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  private final Vertx vertx = Vertx.vertx();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private final Queue<String> arrived = new ConcurrentLinkedQueue<>();

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    for (AutoCloseable one : opened) {
      one.close();
    }
    opened.clear();
    arrived.clear();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    vertx.close().await();
  }

  /** One line for each request. */
  Queue<String> arrived() {
    return arrived;
  }

  OutgoingHttp sender(OutgoingConfig config) {
    OutgoingHttp http = new OutgoingHttp(vertx, config);
    opened.add(http);
    return http;
  }

  PostResult post(OutgoingConfig config, String url) throws Exception {
    return post(config, url, Map.of());
  }

  PostResult post(OutgoingConfig config, String url, Map<String, String> headers) throws Exception {
    OutgoingHttp http = sender(config);
    return http.post(http.target(url), headers, BODY)
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
  }

  /** A receiver that notes what arrives, then answers; its port. */
  int open(Consumer<HttpServerRequest> answer) throws Exception {
    return listen(
        new HttpServerOptions(),
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
                    }));
  }

  /** A receiver that does with a request what the test wants; its port. */
  int listen(HttpServerOptions options, Handler<HttpServerRequest> handler) throws Exception {
    HttpServer ready =
        vertx
            .createHttpServer(options)
            .requestHandler(handler)
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get(30, TimeUnit.SECONDS);
    opened.add(() -> ready.close().await());
    return ready.actualPort();
  }
}
