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

/** Attempts at transactions, by the transaction's label and what became of them. */
final class TxFigures implements TxListener {
  private final Metrics metrics;
  private final Map<Kind, Timer> durations = new ConcurrentHashMap<>();
  private final Timer connectionWait;

  /** Labels are constants of the code, so there are few. */
  private record Kind(String label, TxAttempt.Outcome outcome) {}

  TxFigures(Metrics metrics) {
    this.metrics = metrics;
    this.connectionWait =
        metrics.timer(
            "lockstep.database.connection.wait", "Time until a pooled connection was there.");
    // From the first scrape on: alerts rest on them.
    for (String label :
        List.of(
            JobsConfig.CLAIM_TRANSACTION,
            JobsConfig.MARK_TRANSACTION,
            JobsConfig.RESULT_TRANSACTION)) {
      Kind kind = new Kind(label, TxAttempt.Outcome.COMMITTED);
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

  /** Rare enough to be looked up each time. */
  static Counter lockTimeouts(Metrics metrics, String label) {
    return metrics.counter(
        "lockstep.lock.timeout.errors",
        "Waits for a lock that were given up.",
        "transaction",
        label);
  }

  private Timer timer(Kind kind) {
    return metrics.timer(
        "lockstep.database.transaction.duration",
        "Attempts at a transaction, from asking for a connection to the outcome.",
        "transaction",
        kind.label(),
        "outcome",
        kind.outcome().name().toLowerCase(Locale.ROOT));
  }
}
