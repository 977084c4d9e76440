package dev.lockstep.bench;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
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
 * POSTs over HTTP on a number of connections for a bounded time, closed-loop or at a fixed rate.
 * Runs on event loops, so that the load itself takes little of the machine.
 */
final class HttpLoad implements AutoCloseable {
  private static final int END_TIMEOUT_SECONDS = 60;

  /** The server's process is new; on two shared cores its code takes over a minute to compile. */
  static final int MAX_WARM_UP_SECONDS = 120;

  /** The first writes after a checkpoint cost more, because whole pages are logged. */
  private static final int PACED_WARM_UP_SECONDS = 10;

  private static final long PACE_MS = 1;

  /** Shorter than the server's, which would otherwise close a connection as it is used again. */
  private static final int KEEP_ALIVE_SECONDS = 30;

  /** A POST that must be answered with 201. */
  record Post(String path, String idempotencyKey, String body) {}

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
  private final HttpClient client;
  private final String authorization;
  private final AtomicLong numbers = new AtomicLong();

  HttpLoad(URI server, String key, int connections) {
    client =
        vertx.createHttpClient(
            new HttpClientOptions()
                .setDefaultHost(server.getHost())
                .setDefaultPort(server.getPort())
                .setKeepAliveTimeout(KEEP_ALIVE_SECONDS),
            new PoolOptions().setHttp1MaxSize(connections));
    authorization = "Bearer " + key;
  }

  /** A closed loop: each connection sends again as soon as it has its answer. */
  Measured run(String name, int connections, int seconds, LongFunction<Post> posts)
      throws InterruptedException {
    Progress.say("%s, %,d connections", name, connections);
    Run run = new Run(connections, posts);
    for (int i = 0; i < connections; i++) {
      run.next();
    }
    run.window.passWhenWarm(run.acknowledged::get, MAX_WARM_UP_SECONDS, seconds);
    return run.measured(name);
  }

  /**
   * An open loop, to call after {@link #run}: a fixed rate, whether or not earlier requests are
   * answered. A request that is due without a free connection waits for one, and that counts as
   * latency.
   */
  Measured runPaced(
      String name, int connections, int perSecond, int seconds, LongFunction<Post> posts)
      throws InterruptedException {
    Progress.say("%s, %,d connections", name, connections);
    Run run = new Run(connections, posts);
    Pace pace = new Pace(run, connections, perSecond);
    long timer = vertx.setPeriodic(PACE_MS, tick -> pace.sendDue());
    run.window.pass(PACED_WARM_UP_SECONDS, seconds);
    vertx.cancelTimer(timer);
    pace.end();
    return run.measured(name);
  }

  @Override
  public void close() {
    client.close().onComplete(closed -> vertx.close());
  }

  /** Sends what is due while a connection is free. Thread-safe. */
  private static final class Pace {
    private final Run run;
    private final double nanosEach;
    private final long startedNanos = System.nanoTime();
    private int free;
    private long sent;
    private boolean ended;

    Pace(Run run, int connections, int perSecond) {
      this.run = run;
      this.free = connections;
      this.nanosEach = 1e9 / perSecond;
    }

    synchronized void sendDue() {
      if (run.window.isOver()) {
        return;
      }
      while (free > 0) {
        long dueNanos = startedNanos + (long) (sent * nanosEach);
        if (dueNanos > System.nanoTime()) {
          return;
        }
        sent++;
        free--;
        run.send(dueNanos).onComplete(answered -> answered());
      }
    }

    private synchronized void answered() {
      free++;
      if (ended) {
        run.ended.countDown();
      } else {
        sendDue();
      }
    }

    /** Counts the free connections as ended. */
    synchronized void end() {
      ended = true;
      for (int i = 0; i < free; i++) {
        run.ended.countDown();
      }
    }
  }

  private final class Run {
    private final int connections;
    private final LongFunction<Post> posts;
    private final AtomicLong acknowledged = new AtomicLong();
    private final Window window = new Window();
    private final CountDownLatch ended;

    Run(int connections, LongFunction<Post> posts) {
      this.connections = connections;
      this.posts = posts;
      this.ended = new CountDownLatch(connections);
    }

    void next() {
      if (window.isOver()) {
        ended.countDown();
        return;
      }
      send(System.nanoTime()).onComplete(answered -> next());
    }

    /**
     * Sends the next one.
     *
     * @param dueNanos when its sender began to wait
     */
    Future<Buffer> send(long dueNanos) {
      return send(posts.apply(numbers.incrementAndGet()))
          .onSuccess(
              body -> {
                acknowledged.incrementAndGet();
                if (window.isMeasuring()) {
                  window.record(dueNanos);
                }
              })
          .onFailure(window::fail);
    }

    /** Waits until all requests have ended. */
    Measured measured(String name) throws InterruptedException {
      if (!ended.await(END_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(name + ": requests were not answered within a minute");
      }
      return window.measured(name, connections, acknowledged.get());
    }

    private Future<Buffer> send(Post post) {
      return client
          .request(HttpMethod.POST, post.path())
          // Nested, so that the body is requested on the event loop, before it has ended.
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
