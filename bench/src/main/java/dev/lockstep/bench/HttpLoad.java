package dev.lockstep.bench;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;

/**
 * A closed loop over HTTP: so many connections, each asking again as soon as it was answered, for a
 * bounded time. On event loops, so that the load takes as little of the machine as it can.
 */
final class HttpLoad implements AutoCloseable {
  private static final int END_TIMEOUT_SECONDS = 60;

  /**
   * The server's process is new, and shows what it can do when its code is compiled. On two cores
   * that it shares that takes over a minute.
   */
  static final int MAX_WARM_UP_SECONDS = 120;

  /** A POST that has to be answered with 201. */
  record Post(String path, String idempotencyKey, String body) {}

  private final Vertx vertx = Vertx.vertx();
  private final HttpClient client;
  private final String authorization;

  HttpLoad(URI server, String key, int connections) {
    client =
        vertx.createHttpClient(
            new HttpClientOptions()
                .setDefaultHost(server.getHost())
                .setDefaultPort(server.getPort())
                .setKeepAliveTimeout(0),
            new PoolOptions().setHttp1MaxSize(connections));
    authorization = "Bearer " + key;
  }

  Measured run(String name, int connections, int seconds, LongFunction<Post> posts)
      throws InterruptedException {
    Progress.say("%s, %,d connections", name, connections);
    Run run = new Run(connections, posts);
    for (int i = 0; i < connections; i++) {
      run.next();
    }
    run.window.passWhenWarm(run.acknowledged::get, MAX_WARM_UP_SECONDS, seconds);
    if (!run.ended.await(END_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException(name + ": requests were not answered within a minute");
    }
    return run.window.measured(name, connections, run.acknowledged.get());
  }

  @Override
  public void close() {
    client.close().onComplete(closed -> vertx.close());
  }

  private final class Run {
    private final LongFunction<Post> posts;
    private final AtomicLong numbers = new AtomicLong();
    private final AtomicLong acknowledged = new AtomicLong();
    private final Window window = new Window();
    private final CountDownLatch ended;

    Run(int connections, LongFunction<Post> posts) {
      this.posts = posts;
      this.ended = new CountDownLatch(connections);
    }

    void next() {
      if (window.isOver()) {
        ended.countDown();
        return;
      }
      long askedNanos = System.nanoTime();
      send(posts.apply(numbers.incrementAndGet()))
          .onComplete(
              answer -> {
                if (answer.failed()) {
                  window.fail(answer.cause());
                } else {
                  acknowledged.incrementAndGet();
                  if (window.isMeasuring()) {
                    window.record(askedNanos);
                  }
                }
                next();
              });
    }

    private Future<Buffer> send(Post post) {
      return client
          .request(HttpMethod.POST, post.path())
          // Nested, so that the body is asked for on the event loop, before it has ended.
          .compose(
              request ->
                  headed(request, post)
                      .send(Buffer.buffer(post.body()))
                      .compose(
                          response -> response.body().map(body -> created(post, response, body))));
    }

    private HttpClientRequest headed(HttpClientRequest request, Post post) {
      request
          .putHeader("Authorization", authorization)
          .putHeader("Content-Type", "application/json")
          .putHeader("Idempotency-Key", post.idempotencyKey());
      return request;
    }

    private static Buffer created(Post post, HttpClientResponse response, Buffer body) {
      if (response.statusCode() != 201) {
        throw new IllegalStateException(
            "%s answered %d: %s".formatted(post.path(), response.statusCode(), body));
      }
      return body;
    }
  }
}
