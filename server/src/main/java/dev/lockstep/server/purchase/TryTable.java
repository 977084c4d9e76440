package dev.lockstep.server.purchase;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.StoredEnum;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** The writes that begin a further try to pay, or give a purchase up. The caller commits. */
final class TryTable {
  // Of several at once, one finds this status; the others wait for its commit and find another.
  private static final String BEGIN =
      StoredEnum.sql(
          """
      UPDATE lockstep_server.purchase p
      SET status = {PurchaseStatus.PENDING}, payment_method = ?, try_no = p.try_no + 1, tried_at = now(),
        looks = 0, failure = NULL, changed_at = now(),
        due_at = least(p.deadline, now() + ? * interval '1 millisecond')
      WHERE p.campaign = ? AND p.id = ? AND p.status = {PurchaseStatus.REQUIRES_PAYMENT_METHOD}
        AND p.paid_at IS NULL AND NOT p.expiring AND p.deadline > now() AND p.try_no < ?
      RETURNING %s"""
              .formatted(PurchaseTable.COLUMNS),
          PurchaseStatus.class);

  // As if its time were up, so that the timer continues if this node dies.
  private static final String GIVE_UP =
      StoredEnum.sql(
          """
      UPDATE lockstep_server.purchase p
      SET failure = ?, expiring = true, deadline = least(p.deadline, now()),
        due_at = now() + ? * interval '1 millisecond'
      WHERE p.campaign = ? AND p.id = ?
        AND p.status IN ({PurchaseStatus.REQUIRES_PAYMENT_METHOD}, {PurchaseStatus.REQUIRES_ACTION})
        AND p.paid_at IS NULL AND (NOT p.expiring OR p.failure = ?)
      RETURNING %s"""
              .formatted(PurchaseTable.COLUMNS),
          PurchaseStatus.class);

  private static final String ANSWER =
      "SELECT try_answers ->> ?::text FROM lockstep_server.purchase WHERE campaign = ? AND id = ?";

  private TryTable() {}

  /** Empty if the purchase does not wait for a card any more. */
  static Optional<Purchase> begin(
      Connection connection, PurchaseId id, String method, Duration lookAfter) throws SQLException {
    return first(
        connection, BEGIN, method, lookAfter.toMillis(), id.campaign(), id.value(), Tries.MOST);
  }

  /** Empty if it is pending, its time is up, or it has ended. */
  static Optional<Purchase> giveUp(Connection connection, PurchaseId id, Duration lookAfter)
      throws SQLException {
    return first(
        connection,
        GIVE_UP,
        Purchase.GIVEN_UP,
        lookAfter.toMillis(),
        id.campaign(),
        id.value(),
        Purchase.GIVEN_UP);
  }

  /** The answer to the request of a later try; empty if not known yet. */
  static Optional<String> answer(Connection connection, PurchaseId id, int number)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Optional<String>> rows =
        trip.query(
            ANSWER,
            row -> Optional.ofNullable(row.getString(1)),
            String.valueOf(number),
            id.campaign(),
            id.value());
    trip.send();
    return rows.list().stream().findFirst().flatMap(answer -> answer);
  }

  private static Optional<Purchase> first(Connection connection, String sql, Object... parameters)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Purchase> rows = trip.query(sql, PurchaseTable::read, parameters);
    trip.send();
    return rows.list().stream().findFirst();
  }
}
