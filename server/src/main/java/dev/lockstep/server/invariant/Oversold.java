package dev.lockstep.server.invariant;

import dev.lockstep.audit.Violation;
import dev.lockstep.server.metric.Metrics;
import dev.lockstep.tx.Transactor;
import io.micrometer.core.instrument.Counter;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts pools of which live holds have more than there is: what must never happen. A pool counts
 * once, since a check finds it again and again until it is mended.
 */
final class Oversold {
  // What holders have, against what there is; the pool's own counters are not asked. Locks nothing.
  private static final String MORE_THAN_THERE_IS =
      """
      SELECT sum(l.quantity) > p.total
      FROM lockstep.pool p
      JOIN lockstep.hold h ON h.scope = p.scope AND h.state IN (0, 1)
      CROSS JOIN LATERAL unnest(h.pools, h.quantities) AS l (pool, quantity)
      WHERE p.scope = ? AND p.pool = ? AND l.pool = p.pool
      GROUP BY p.total""";

  private final Transactor transactor;
  private final Counter incidents;
  private final Set<Place> known = ConcurrentHashMap.newKeySet();

  private record Place(long scope, long pool) {}

  Oversold(Transactor transactor, Metrics metrics) {
    this.transactor = transactor;
    this.incidents =
        metrics.counter(
            "lockstep.overselling.incidents", "Pools of which more was given out than there is.");
  }

  /** Blocks. Only the check of holds can see it, so others are not looked into. */
  void look(Violation violation) {
    if (violation.check() == Violation.Check.HOLDS
        && oversold(violation)
        && known.add(new Place(violation.scope(), violation.pool()))) {
      incidents.increment();
    }
  }

  private boolean oversold(Violation violation) {
    return transactor.call(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(MORE_THAN_THERE_IS)) {
            statement.setLong(1, violation.scope());
            statement.setLong(2, violation.pool());
            try (ResultSet row = statement.executeQuery()) {
              return row.next() && row.getBoolean(1);
            }
          }
        });
  }
}
