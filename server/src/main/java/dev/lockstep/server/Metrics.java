package dev.lockstep.server;

import com.zaxxer.hikari.HikariPoolMXBean;
import io.vertx.ext.web.RoutingContext;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** A few figures in Prometheus' text format. Thread-safe. */
final class Metrics {
  private static final int CLASSES = 6;

  private final LongAdder begun = new LongAdder();
  private final LongAdder[] endedByClass = new LongAdder[CLASSES];

  Metrics() {
    for (int i = 0; i < CLASSES; i++) {
      endedByClass[i] = new LongAdder();
    }
  }

  /** Counts a request now, and its answer when it has been sent. */
  void count(RoutingContext context) {
    begun.increment();
    context.addEndHandler(
        ended -> endedByClass[context.response().getStatusCode() / 100 % CLASSES].increment());
    context.next();
  }

  /**
   * @param pool null before there is a database
   */
  String text(@Nullable HikariPoolMXBean pool) {
    StringBuilder text = new StringBuilder();
    long ended = 0;
    text.append("# HELP lockstep_http_requests_total Requests answered, by class of status.\n")
        .append("# TYPE lockstep_http_requests_total counter\n");
    for (int i = 1; i < CLASSES; i++) {
      long count = endedByClass[i].sum();
      ended += count;
      text.append("lockstep_http_requests_total{status=\"%dxx\"} %d\n".formatted(i, count));
    }
    // Read after the answers: a request that ends meanwhile must not make the difference negative.
    gauge(
        text, "lockstep_http_requests_in_flight", "Requests being answered.", begun.sum() - ended);
    if (pool != null) {
      gauge(
          text,
          "lockstep_database_connections_active",
          "Pooled connections in use.",
          pool.getActiveConnections());
      gauge(
          text,
          "lockstep_database_connections_idle",
          "Pooled connections not in use.",
          pool.getIdleConnections());
      gauge(
          text,
          "lockstep_database_connections_pending",
          "Threads that wait for a connection.",
          pool.getThreadsAwaitingConnection());
    }
    return text.toString();
  }

  private static void gauge(StringBuilder text, String name, String help, long value) {
    text.append("# HELP ").append(name).append(' ').append(help).append('\n');
    text.append("# TYPE ").append(name).append(" gauge\n");
    text.append(name).append(' ').append(value).append('\n');
  }
}
