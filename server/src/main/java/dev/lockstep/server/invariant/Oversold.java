package dev.lockstep.server.invariant;

import dev.lockstep.hold.StockViolation;
import dev.lockstep.server.metric.Metrics;
import io.micrometer.core.instrument.Counter;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts pools of which live holds have more than there is: what must never happen. A pool counts
 * once, since a check finds it again and again until it is mended.
 */
final class Oversold {
  private final Counter incidents;
  private final Set<Place> known = ConcurrentHashMap.newKeySet();

  private record Place(long scope, long pool) {}

  Oversold(Metrics metrics) {
    this.incidents =
        metrics.counter(
            "lockstep.overselling.incidents", "Pools of which more was given out than there is.");
  }

  void look(StockViolation violation) {
    if (violation.check() == StockViolation.StockInvariant.OVERSOLD
        && known.add(new Place(violation.scope(), violation.pool()))) {
      incidents.increment();
    }
  }
}
