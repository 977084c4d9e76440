package dev.lockstep.server.purchase;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.StoredEnum;
import java.sql.Connection;
import java.sql.SQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Purchases that the timer cannot process, each with the reason. They block no others; the
 * reconciliation shows them to people. Uses the caller's connection.
 */
final class SetAside {
  private static final Logger log = LoggerFactory.getLogger(SetAside.class);
  private static final int MAX_REASON = 400;

  private static final String NOTE =
      """
      INSERT INTO lockstep_server.purchase_set_aside AS s (campaign, id, reason, first_at, last_at)
      VALUES (?, ?, ?, now(), now())
      ON CONFLICT (campaign, id) DO UPDATE SET reason = excluded.reason, last_at = now()""";

  private static final String FORGET =
      "DELETE FROM lockstep_server.purchase_set_aside WHERE campaign = ? AND id = ?";

  // Ended elsewhere, or gone: the timer will not come to them again.
  private static final String FORGET_ENDED =
      StoredEnum.sql(
          """
      DELETE FROM lockstep_server.purchase_set_aside s
      WHERE NOT EXISTS (SELECT 1 FROM lockstep_server.purchase p
        WHERE p.campaign = s.campaign AND p.id = s.id
          AND p.status IN ({PurchaseStatus.PENDING}, {PurchaseStatus.REQUIRES_ACTION}, {PurchaseStatus.REFUNDING},
            {PurchaseStatus.REQUIRES_PAYMENT_METHOD}))""",
          PurchaseStatus.class);

  private SetAside() {}

  static void note(Connection connection, PurchaseId id, String reason) throws SQLException {
    log.error("Purchase {} is set aside, see the reconciliation: {}", id, reason);
    // PostgreSQL text cannot hold a zero byte.
    String text = reason.replace('\0', ' ');
    RoundTrip trip = new RoundTrip(connection);
    trip.update(
        NOTE, id.campaign(), id.value(), text.substring(0, Math.min(MAX_REASON, text.length())));
    trip.send();
  }

  static void forget(Connection connection, PurchaseId id) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(FORGET, id.campaign(), id.value());
    trip.send();
  }

  static void forgetEnded(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(FORGET_ENDED);
    trip.send();
  }
}
