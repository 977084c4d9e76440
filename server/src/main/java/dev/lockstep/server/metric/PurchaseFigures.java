package dev.lockstep.server.metric;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** Metrics of purchases as buyers see them, from request to answer. */
public final class PurchaseFigures {
  private static final String COMPLETED = "completed";
  private static final List<String> MISMATCHES =
      List.of(
          "intent",
          "unproven",
          "amount",
          "currency",
          "refund_amount",
          "refund_failed",
          "refund_rejected",
          "refund_waiting");

  private final LongAdder running = new LongAdder();
  private final RecentRate completedLately;
  private final Counter sold;
  private final AnswerFigures completed;
  private final AnswerFigures requiresAction;
  private final AnswerFigures paymentFailed;
  private final AnswerFigures refused;
  private final AnswerFigures error;
  private final Map<String, Counter> ended = new HashMap<>();
  private final Map<String, Counter> mismatched = new HashMap<>();

  PurchaseFigures(Metrics metrics, LongSupplier nanoTime) {
    completedLately = new RecentRate(nanoTime);
    sold = metrics.counter("lockstep.positions.sold", "Positions and items sold.");
    completed = new AnswerFigures(metrics, COMPLETED);
    requiresAction = new AnswerFigures(metrics, "requires_action");
    paymentFailed = new AnswerFigures(metrics, "payment_failed");
    refused = new AnswerFigures(metrics, "refused");
    error = new AnswerFigures(metrics, "error");
    for (String status : List.of(COMPLETED, "failed", "expired", "refunded")) {
      ended.put(
          status,
          metrics.counter(
              "lockstep.purchases.ended",
              "Purchases that ended, whether by answer, event or timer.",
              "status",
              status));
    }
    for (String kind : MISMATCHES) {
      mismatched.put(
          kind,
          metrics.counter(
              "lockstep.payment.mismatches",
              "Payments whose provider state no purchase agrees with.",
              "kind",
              kind));
    }
    metrics.gauge("lockstep.concurrent.purchases", "Purchases being answered.", running::sum);
    metrics.gauge(
        "lockstep.purchases.per.second",
        "Purchases completed per second, over the last ten seconds.",
        completedLately::perSecond);
  }

  /** The metrics of one kind of answer. */
  private static final class AnswerFigures {
    private final Counter count;
    private final Timer duration;

    AnswerFigures(Metrics metrics, String outcome) {
      count =
          metrics.counter(
              "lockstep.purchases",
              "Purchases answered, repetitions excluded.",
              "outcome",
              outcome);
      duration =
          metrics.timer(
              "lockstep.purchase.duration",
              "Duration of purchases, from request to answer.",
              "outcome",
              outcome);
    }

    void add(long tookNanos) {
      count.increment();
      duration.record(tookNanos, TimeUnit.NANOSECONDS);
    }
  }

  /** Counts positions or items that were sold. */
  public void sold(int quantity) {
    sold.increment(quantity);
  }

  /** Counts a purchase that has reached a final status: completed, failed, expired or refunded. */
  public void ended(String status) {
    Objects.requireNonNull(ended.get(status), status).increment();
    if (status.equals(COMPLETED)) {
      completedLately.add(1);
    }
  }

  /** Counts a payment that does not agree with its purchase. */
  public void mismatched(String kind) {
    Objects.requireNonNull(mismatched.get(kind), kind).increment();
  }

  static boolean isPurchase(HttpServerRequest request) {
    if (!request.method().equals(HttpMethod.POST)) {
      return false;
    }
    String path = request.path();
    return path != null
        && (path.endsWith("/purchases") || path.endsWith("/checkout") || path.endsWith("/pay"));
  }

  void began() {
    running.increment();
  }

  void ended() {
    running.decrement();
  }

  void answered(HttpServerResponse response, long tookNanos) {
    if (response.headers().contains("Idempotency-Replayed")) {
      return;
    }
    told(response.getStatusCode()).add(tookNanos);
  }

  private AnswerFigures told(int status) {
    return switch (status) {
      case 200, 201 -> completed;
      case 202 -> requiresAction;
      case 402 -> paymentFailed;
      default -> status >= 500 ? error : refused;
    };
  }
}
