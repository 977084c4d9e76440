package dev.lockstep.server.cart;

import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.ScopeId;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Set;

/** Knows which holds are being paid for. They stay as they are until that has ended. */
@FunctionalInterface
public interface Checkouts {
  /** Those of these holds, whose rows the caller has locked, that have a payment under way. */
  Set<HoldId> payingFor(Connection connection, ScopeId scope, Collection<HoldId> holds)
      throws SQLException;
}
