package dev.lockstep.server.draw;

import java.sql.Connection;

/** Joins the transaction that ranks the winners. */
@FunctionalInterface
public interface DrawListener {
  DrawListener NONE = (connection, campaign, entrantsHash, winners) -> {};

  /** Called before COMMIT, once per draw. It must not commit; an exception fails the draw. */
  void drawn(Connection connection, long campaign, String entrantsHash, int winners);
}
