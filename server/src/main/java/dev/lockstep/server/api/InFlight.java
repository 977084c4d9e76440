package dev.lockstep.server.api;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tracks requests in flight, so that a stop lets them finish and refuses new ones. A stop ends live
 * streams, which never finish on their own, and requests whose body is still arriving, for which
 * nothing was done. Thread-safe.
 */
public final class InFlight {
  private final AtomicInteger running = new AtomicInteger();
  private final Map<RoutingContext, Context> requests = new ConcurrentHashMap<>();
  private final Set<HttpServerResponse> streams = ConcurrentHashMap.newKeySet();
  private final Promise<Void> drained = Promise.promise();
  private volatile boolean draining;

  /** The first handler of a request: admits it, or says that the server is stopping. */
  public void enter(RoutingContext context) {
    // Counts before it reads the flag, so that a drain that starts in between waits for this
    // request.
    running.incrementAndGet();
    requests.put(context, context.vertx().getOrCreateContext());
    context.addEndHandler(
        ended -> {
          requests.remove(context);
          leave();
        });
    if (draining) {
      refuse(context);
      return;
    }
    context.next();
  }

  public boolean draining() {
    return draining;
  }

  /** Registers a response that has no end of its own. */
  public void stream(HttpServerResponse response) {
    streams.add(response);
    if (draining) {
      var unused = response.end();
    }
  }

  public void streamEnded(HttpServerResponse response) {
    streams.remove(response);
  }

  /** Refuses new requests from now on; completes when the last one in flight has ended. */
  public Future<Void> drain() {
    draining = true;
    streams.forEach(HttpServerResponse::end);
    requests.forEach((request, loop) -> loop.runOnContext(now -> endIfIncomplete(request)));
    if (running.get() == 0) {
      drained.tryComplete();
    }
    return drained.future();
  }

  /** Runs on the request's event loop. A slow sender is not waited for. */
  private static void endIfIncomplete(RoutingContext context) {
    HttpServerResponse response = context.response();
    if (!context.request().isEnded() && !response.headWritten() && !response.ended()) {
      refuse(context);
      // Reads nothing more: the rest of the body must not start the refused request.
      var unused = context.request().connection().close();
    }
  }

  private static void refuse(RoutingContext context) {
    context.response().putHeader("Connection", "close");
    Problem.of("shutting-down", 503, "Shutting down", "This server is stopping; nothing was done.")
        .retryAfter(Duration.ofSeconds(1))
        .send(context.response());
  }

  private void leave() {
    if (running.decrementAndGet() == 0 && draining) {
      drained.tryComplete();
    }
  }
}
