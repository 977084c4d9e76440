package dev.lockstep.server.metric;

import dev.lockstep.server.payment.PaymentListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** Metrics of calls to the payment provider. */
final class PaymentFigures implements PaymentListener {
  private final Map<Operation, Timer> durations;
  private final Counter failures;
  private final Counter refundFailures;

  PaymentFigures(Metrics metrics) {
    durations = Metrics.each(Operation.class, one -> timer(metrics, one));
    failures = metrics.counter("lockstep.payment.failures", "Payments that the provider refused.");
    refundFailures =
        metrics.counter(
            "lockstep.refund.failures",
            "Attempts to refund that the provider refused, or that failed.");
  }

  @Override
  public void onCall(Operation operation, Duration took, boolean refused) {
    Objects.requireNonNull(durations.get(operation)).record(took);
    if (refused && operation == Operation.PAY) {
      failures.increment();
    } else if (refused && operation == Operation.REFUND) {
      refundFailures.increment();
    }
  }

  private static Timer timer(Metrics metrics, Operation operation) {
    return metrics.timer(
        "lockstep.stripe.api.duration",
        "Calls to the payment provider, retries included.",
        "operation",
        operation.name().toLowerCase(Locale.ROOT));
  }
}
