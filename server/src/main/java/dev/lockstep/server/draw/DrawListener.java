package dev.lockstep.server.draw;

import java.sql.Connection;

/** Something else that happens in the transaction that ranks the winners. */
@FunctionalInterface
public interface DrawListener {
  DrawListener NONE = (connection, campaign, entrantsHash, winners) -> {};

  /** Called before COMMIT, once a draw. It commits nothing, and what it throws fails the draw. */
  void drawn(Connection connection, long campaign, String entrantsHash, int winners);
}
