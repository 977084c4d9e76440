package dev.lockstep.server.purchase;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;

/**
 * A purchase whose row is locked until the transaction ends.
 *
 * @param now the database's time
 */
record LockedPurchase(Purchase purchase, Instant now) {
  // Batches lock stock before purchases. This transaction locks no stock, so it cannot deadlock.
  private static final String LOCK =
      "SELECT "
          + PurchaseTable.COLUMNS
          + ", now() AS read_at FROM lockstep_server.purchase p WHERE p.campaign = ? AND p.id = ?"
          + " FOR UPDATE";

  static Optional<LockedPurchase> find(Connection connection, PurchaseId id) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<LockedPurchase> rows =
        trip.query(
            LOCK,
            row ->
                new LockedPurchase(
                    PurchaseTable.read(row),
                    row.getObject("read_at", OffsetDateTime.class).toInstant()),
            id.campaign(),
            id.value());
    trip.send();
    return rows.list().stream().findFirst();
  }
}
