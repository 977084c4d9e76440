package dev.lockstep.server.draw;

import dev.lockstep.hold.HoldId;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

/** Says which purchase each sold hold belongs to. */
@FunctionalInterface
public interface SoldTo {
  /**
   * The purchases of a campaign that take part in its draw, by the hold they paid for: paid and not
   * being refunded, as the connection's transaction sees them.
   */
  Map<HoldId, String> purchases(Connection connection, long campaign) throws SQLException;
}
