package dev.lockstep.server.metric;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.job.JobsConfig;
import dev.lockstep.tx.TxAttempt;
import dev.lockstep.tx.TxListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Metrics of transaction attempts, by label and outcome. */
final class TxFigures implements TxListener {
  private final Metrics metrics;
  private final Map<Kind, Timer> durations = new ConcurrentHashMap<>();
  private final Timer connectionWait;

  /** Labels are constants of the code, so there are few. */
  private record Kind(String label, TxAttempt.TxOutcome outcome) {}

  TxFigures(Metrics metrics) {
    this.metrics = metrics;
    this.connectionWait =
        metrics.timer("lockstep.database.connection.wait", "Wait for a pooled connection.");
    // Registered at zero, because alerts use them.
    for (String label :
        List.of(
            JobsConfig.CLAIM_TRANSACTION,
            JobsConfig.MARK_TRANSACTION,
            JobsConfig.RESULT_TRANSACTION)) {
      Kind kind = new Kind(label, TxAttempt.TxOutcome.COMMITTED);
      durations.put(kind, timer(kind));
    }
  }

  @Override
  public void onAttempt(TxAttempt attempt) {
    durations
        .computeIfAbsent(new Kind(attempt.label(), attempt.outcome()), this::timer)
        .record(attempt.duration());
    connectionWait.record(attempt.connectionWait());
    if (attempt.fault().filter(fault -> fault == SqlFault.LOCK_TIMEOUT).isPresent()) {
      lockTimeouts(metrics, attempt.label()).increment();
    }
  }

  /** Rare enough to look up each time. */
  static Counter lockTimeouts(Metrics metrics, String label) {
    return metrics.counter(
        "lockstep.lock.timeout.errors", "Lock waits that timed out.", "transaction", label);
  }

  private Timer timer(Kind kind) {
    return metrics.timer(
        "lockstep.database.transaction.duration",
        "Duration of transaction attempts, from asking for a connection to the outcome.",
        "transaction",
        kind.label(),
        "outcome",
        kind.outcome().name().toLowerCase(Locale.ROOT));
  }
}
