package dev.lockstep.server.cart;

import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.ScopeId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;

/** Tells which holds are being paid for. They must not change until the payment has ended. */
public interface Checkouts {
  /**
   * The holds among these that belong to a purchase whose payment is under way, from its start or
   * added later. The answer stays true while the caller has the holds locked.
   */
  Set<HoldId> payingFor(Connection connection, ScopeId scope, Collection<HoldId> holds)
      throws SQLException;

  /** Until when a hold may be paid for, if a payment is under way. Blocks. */
  Optional<Instant> payableUntil(ScopeId scope, HoldId hold);
}
