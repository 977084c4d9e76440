package dev.lockstep.ledger;

import java.time.Instant;
import java.util.List;

/**
 * What a ledger check read and found.
 *
 * @param checkedAt the time of the first snapshot, on the database's clock
 * @param accounts accounts checked
 * @param entries entries checked
 */
public record LedgerReport(
    Instant checkedAt, long accounts, long entries, List<LedgerViolation> violations) {
  public LedgerReport {
    violations = List.copyOf(violations);
  }

  public boolean ok() {
    return violations.isEmpty();
  }
}
