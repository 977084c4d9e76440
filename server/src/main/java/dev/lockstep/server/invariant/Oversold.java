package dev.lockstep.server.invariant;

import dev.lockstep.hold.StockViolation;
import dev.lockstep.server.metric.Metrics;
import io.micrometer.core.instrument.Counter;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts pools whose live holds exceed their total, which must never happen. Each pool counts once,
 * since every check finds it again until it is repaired.
 */
final class Oversold {
  private final Counter incidents;
  private final Set<PoolOfScope> known = ConcurrentHashMap.newKeySet();

  private record PoolOfScope(long scope, long pool) {}

  Oversold(Metrics metrics) {
    this.incidents =
        metrics.counter("lockstep.overselling.incidents", "Pools whose holds exceed their total.");
  }

  void look(StockViolation violation) {
    if (violation.check() == StockViolation.StockInvariant.OVERSOLD
        && known.add(new PoolOfScope(violation.scope(), violation.pool()))) {
      incidents.increment();
    }
  }
}
