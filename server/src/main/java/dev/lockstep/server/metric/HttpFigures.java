package dev.lockstep.server.metric;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.RoutingContext;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** Metrics of requests and answers. */
public final class HttpFigures {
  private static final int CLASSES = 6;
  private static final String API = "/v1/";
  private static final String STREAM = "/live";

  private final Metrics metrics;
  private final PurchaseFigures purchases;
  private final EditFigures edits;
  private final LongAdder inFlight = new LongAdder();
  private final Counter[] answered = new Counter[CLASSES];
  private final Map<Kind, Timer> durations = new ConcurrentHashMap<>();

  /** Routes, not paths, so there are only as many as the API has operations. */
  private record Kind(HttpMethod method, String route, int statusClass) {}

  HttpFigures(Metrics metrics, PurchaseFigures purchases) {
    this.metrics = metrics;
    this.purchases = purchases;
    this.edits = new EditFigures(metrics);
    for (int i = 1; i < CLASSES; i++) {
      answered[i] =
          metrics.counter(
              "lockstep.http.requests", "Requests answered, by status class.", "status", i + "xx");
    }
    metrics.gauge("lockstep.http.requests.in.flight", "Requests being answered.", inFlight::sum);
  }

  /** A handler that counts the request now, and its answer once sent. */
  public void count(RoutingContext context) {
    long beganNanos = System.nanoTime();
    inFlight.increment();
    boolean purchase = PurchaseFigures.isPurchase(context.request());
    if (purchase) {
      purchases.began();
    }
    context.addEndHandler(
        ended -> {
          inFlight.decrement();
          if (purchase) {
            purchases.ended();
          }
          // A client that hung up got no answer, and the status is only a default.
          if (context.response().headWritten()) {
            long tookNanos = System.nanoTime() - beganNanos;
            answered(context, tookNanos);
            if (purchase) {
              purchases.answered(context.response(), tookNanos);
            }
          }
        });
    context.next();
  }

  private void answered(RoutingContext context, long tookNanos) {
    int statusClass = context.response().getStatusCode() / 100;
    if (statusClass < 1 || statusClass >= CLASSES) {
      return;
    }
    answered[statusClass].increment();
    Route matched = context.currentRoute();
    String route = matched == null ? null : matched.getPath();
    // A stream lasts as long as somebody watches, so its duration says nothing about us.
    if (route != null && route.startsWith(API) && !route.endsWith(STREAM)) {
      durations
          .computeIfAbsent(new Kind(context.request().method(), route, statusClass), this::timer)
          .record(tookNanos, TimeUnit.NANOSECONDS);
      edits.answered(context.request(), route, context.response().getStatusCode());
    }
  }

  private Timer timer(Kind kind) {
    return metrics.timer(
        "lockstep.http.request.duration",
        "Duration of API requests, from the first byte to the last of the answer.",
        "method",
        kind.method().name(),
        "route",
        kind.route(),
        "status",
        kind.statusClass() + "xx");
  }
}
