package dev.lockstep.audit;

import java.time.Instant;
import java.util.List;

/**
 * What a check looked at and found.
 *
 * @param checkedAt when it was begun, on the database's clock
 * @param pools pools looked at
 * @param changes audit rows looked at
 * @param slices snapshots it took
 */
public record AuditReport(
    Instant checkedAt, int pools, long changes, long slices, List<Violation> violations) {
  public AuditReport {
    violations = List.copyOf(violations);
  }

  public boolean ok() {
    return violations.isEmpty();
  }
}
