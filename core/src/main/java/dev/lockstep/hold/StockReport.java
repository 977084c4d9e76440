package dev.lockstep.hold;

import java.time.Instant;
import java.util.List;

/**
 * What a check read and found.
 *
 * @param checkedAt when it began, on the database's clock
 * @param pools pools checked
 * @param changes audit rows checked
 * @param slices slices read, one snapshot each
 */
public record StockReport(
    Instant checkedAt, int pools, long changes, long slices, List<StockViolation> violations) {
  public StockReport {
    violations = List.copyOf(violations);
  }

  public boolean ok() {
    return violations.isEmpty();
  }
}
