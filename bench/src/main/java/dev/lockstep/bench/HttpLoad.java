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
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongFunction;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A closed loop over HTTP: so many connections, each asking again as soon as it was answered, for a
 * bounded time. On event loops, so that the load takes as little of the machine as it can.
 */
final class HttpLoad implements AutoCloseable {
  private static final long MAX_LATENCY_NANOS = TimeUnit.MINUTES.toNanos(2);
  private static final int END_TIMEOUT_SECONDS = 60;

  /** The server's process is new: its code has to be compiled before it shows what it can do. */
  static final int WARM_UP_SECONDS = 30;

  /** A POST that has to be answered with 201. */
  record Post(String path, String idempotencyKey, String body) {}

  private enum Phase {
    WARM_UP,
    MEASURED,
    OVER
  }

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
    run.pause(WARM_UP_SECONDS);
    run.phase = Phase.MEASURED;
    long startedNanos = System.nanoTime();
    run.pause(seconds);
    run.phase = Phase.OVER;
    double elapsedSeconds = (System.nanoTime() - startedNanos) / 1e9;
    if (!run.ended.await(END_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException(name + ": requests were not answered within a minute");
    }
    Throwable failure = run.failure.get();
    if (failure != null) {
      throw new IllegalStateException(name + " failed", failure);
    }
    return new Measured(
        name,
        connections,
        run.latencies.getTotalCount() / elapsedSeconds,
        run.latencies.getValueAtPercentile(50) / 1e6,
        run.latencies.getValueAtPercentile(95) / 1e6,
        run.latencies.getValueAtPercentile(99) / 1e6,
        run.acknowledged.get(),
        "");
  }

  @Override
  public void close() {
    client.close().onComplete(closed -> vertx.close());
  }

  private final class Run {
    private final LongFunction<Post> posts;
    private final AtomicLong numbers = new AtomicLong();
    private final AtomicLong acknowledged = new AtomicLong();
    private final Histogram latencies = new ConcurrentHistogram(MAX_LATENCY_NANOS, 3);
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final CountDownLatch ended;
    private volatile Phase phase = Phase.WARM_UP;

    Run(int connections, LongFunction<Post> posts) {
      this.posts = posts;
      this.ended = new CountDownLatch(connections);
    }

    void next() {
      if (phase == Phase.OVER || failure.get() != null) {
        ended.countDown();
        return;
      }
      long askedNanos = System.nanoTime();
      send(posts.apply(numbers.incrementAndGet()))
          .onComplete(
              answer -> {
                if (answer.failed()) {
                  failure.compareAndSet(null, answer.cause());
                } else {
                  acknowledged.incrementAndGet();
                  if (phase == Phase.MEASURED) {
                    latencies.recordValue(
                        Math.min(MAX_LATENCY_NANOS, System.nanoTime() - askedNanos));
                  }
                }
                next();
              });
    }

    /** The measuring thread waits for time to pass, which is what is being measured. */
    void pause(double seconds) throws InterruptedException {
      long untilNanos = System.nanoTime() + (long) (seconds * 1e9);
      while (failure.get() == null && System.nanoTime() < untilNanos) {
        TimeUnit.NANOSECONDS.sleep(
            Math.min(50_000_000, Math.max(1, untilNanos - System.nanoTime())));
      }
    }

    private Future<Buffer> send(Post post) {
      return client
          .request(HttpMethod.POST, post.path())
          .compose(request -> headed(request, post).send(Buffer.buffer(post.body())))
          .compose(response -> response.body().map(body -> created(post, response, body)));
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
