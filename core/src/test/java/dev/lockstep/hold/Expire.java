package dev.lockstep.hold;

import dev.lockstep.testkit.TestDatabase;

/**
 * Moves holds back in time, as the database's clock decides what has expired; no test waits for it.
 */
final class Expire {
  // The lifetime stays what it was. Holds that have ended stay as they are.
  private static final String MOVE_BACK =
      """
      UPDATE lockstep.hold
      SET created_at = created_at - (expires_at - now()) - interval '1 second',
          expires_at = now() - interval '1 second'
      WHERE state = 0 AND expires_at > now() AND scope = %d""";

  private Expire() {}

  static void now(TestDatabase database, Hold hold) {
    database.execute(MOVE_BACK.formatted(hold.scope().value()) + " AND hold = '" + hold.id() + "'");
  }

  static void all(Sale sale) {
    sale.database().execute(MOVE_BACK.formatted(sale.scope().value()));
  }

  /** So that this hold expires after every hold that {@link #now} or {@link #all} moved. */
  static void last(TestDatabase database, Hold hold) {
    now(database, hold);
    database.execute(
        "UPDATE lockstep.hold SET expires_at = now() WHERE hold = '" + hold.id() + "'");
  }
}
