package dev.lockstep.ledger;

import java.time.Instant;
import java.util.List;

/**
 * What a check of the ledger looked at and found.
 *
 * @param checkedAt the moment of the first snapshot, on the database's clock
 * @param accounts accounts looked at
 * @param entries entries looked at
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
