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
 * Knows the requests that are being answered, so that a stop can let them finish and refuse what
 * comes new. Streams, which never finish by themselves, are ended; so are requests whose body is
 * still on its way, of which nothing was done. Thread-safe.
 */
public final class InFlight {
  private final AtomicInteger running = new AtomicInteger();
  private final Map<RoutingContext, Context> requests = new ConcurrentHashMap<>();
  private final Set<HttpServerResponse> streams = ConcurrentHashMap.newKeySet();
  private final Promise<Void> drained = Promise.promise();
  private volatile boolean draining;

  /** The first handler of a request: lets it in, or says that this server is going away. */
  public void enter(RoutingContext context) {
    // Counted before the flag is read: a drain that began in between then waits for this one.
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

  /** A response without an end of its own. */
  public void stream(HttpServerResponse response) {
    streams.add(response);
    if (draining) {
      var unused = response.end();
    }
  }

  public void streamEnded(HttpServerResponse response) {
    streams.remove(response);
  }

  /** From now on new requests are refused; completes when the last one in flight has ended. */
  public Future<Void> drain() {
    draining = true;
    streams.forEach(HttpServerResponse::end);
    requests.forEach((request, loop) -> loop.runOnContext(now -> endIfIncomplete(request)));
    if (running.get() == 0) {
      drained.tryComplete();
    }
    return drained.future();
  }

  /** On the request's event loop. Whoever sends slowly is not waited for. */
  private static void endIfIncomplete(RoutingContext context) {
    HttpServerResponse response = context.response();
    if (!context.request().isEnded() && !response.headWritten() && !response.ended()) {
      refuse(context);
      // Nothing more is read: the rest of the body must not begin what was refused.
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
