package dev.lockstep.server.cart;

import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.ScopeId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;

/** Knows which holds are being paid for. They stay as they are until that has ended. */
public interface Checkouts {
  /**
   * Those of these holds that belong to a purchase whose payment is under way, whether it began
   * with them or got them later. A caller who has locked the holds knows that it stays so.
   */
  Set<HoldId> payingFor(Connection connection, ScopeId scope, Collection<HoldId> holds)
      throws SQLException;

  /** Until when a hold may be paid for, if a payment is under way. Blocks. */
  Optional<Instant> payableUntil(ScopeId scope, HoldId hold);
}
