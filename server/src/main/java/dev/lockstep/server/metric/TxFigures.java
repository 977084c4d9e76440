package dev.lockstep.server.metric;

import dev.lockstep.tx.SqlFault;
import dev.lockstep.tx.TxAttempt;
import dev.lockstep.tx.TxListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Attempts at transactions, by the transaction's label and what became of them. */
final class TxFigures implements TxListener {
  private final Metrics metrics;
  private final Map<Kind, Timer> durations = new ConcurrentHashMap<>();
  private final Timer connectionWait;
  private final Counter lockTimeouts;

  /** Labels are constants of the code, so there are few. */
  private record Kind(String label, TxAttempt.Outcome outcome) {}

  TxFigures(Metrics metrics) {
    this.metrics = metrics;
    this.connectionWait =
        metrics.timer(
            "lockstep.database.connection.wait", "Time until a pooled connection was there.");
    this.lockTimeouts =
        metrics.counter("lockstep.lock.timeout.errors", "Waits for a lock that were given up.");
  }

  @Override
  public void onAttempt(TxAttempt attempt) {
    durations
        .computeIfAbsent(new Kind(attempt.label(), attempt.outcome()), this::timer)
        .record(attempt.duration());
    connectionWait.record(attempt.connectionWait());
    if (attempt.fault().filter(fault -> fault == SqlFault.LOCK_TIMEOUT).isPresent()) {
      lockTimeouts.increment();
    }
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
