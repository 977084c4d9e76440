package dev.lockstep.server.reconciliation;

import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A purchase with what it owns and what its campaign's book says of it, all of one snapshot.
 *
 * @param now when that was
 * @param goods empty: there is no such hold
 * @param shared whether another paid purchase is completed on the same hold
 * @param setAside why the timer cannot go on with it; null: it can
 * @param drawn whether a draw rests on what its campaign has sold
 */
record PurchaseFacts(
    long campaign,
    UUID id,
    UUID hold,
    String buyer,
    int status,
    long amount,
    String currency,
    String items,
    @Nullable String intent,
    @Nullable Instant paidAt,
    Instant createdAt,
    Instant changedAt,
    Instant deadline,
    Instant now,
    boolean drawn,
    boolean shared,
    @Nullable String setAside,
    Optional<Goods> goods,
    Book book) {
  static final int PENDING = 0;
  static final int REQUIRES_ACTION = 1;
  static final int COMPLETED = 2;
  static final int FAILED = 3;
  static final int EXPIRED = 4;
  static final int REFUNDING = 5;
  static final int REFUNDED = 6;

  /** What is needed of a purchase, from {@code p}. */
  static final String OF_PURCHASE =
      "p.campaign, p.id, p.hold, p.buyer, p.status, p.amount, p.currency, p.items, p.intent,"
          + " p.paid_at, p.created_at, p.changed_at, p.deadline";

  /** The rest of the columns, and where they come from: by their keys, whatever the sizes. */
  static final String AND_THE_REST =
      """
        now(), EXISTS (SELECT 1 FROM lockstep_server.draw d WHERE d.campaign = p.campaign),
        h.state, h.pools, h.quantities, h.unit_pools, h.units,
        t.posted, t.state = 1 AND t.source = 1 AND t.target = 2, b.created_at,
        EXISTS (SELECT 1 FROM lockstep_server.purchase o
          WHERE o.campaign = p.campaign AND o.hold = p.hold AND o.hold <> o.id AND o.id <> p.id
            AND o.status IN (2, 5) AND o.paid_at IS NOT NULL)
        OR p.hold <> p.id AND EXISTS (SELECT 1 FROM lockstep_server.purchase o
          WHERE o.campaign = p.campaign AND o.id = p.hold AND o.hold = p.hold
            AND o.status IN (2, 5) AND o.paid_at IS NOT NULL),
        (SELECT s.reason FROM lockstep_server.purchase_set_aside s
          WHERE s.campaign = p.campaign AND s.id = p.id)
      FROM p
      LEFT JOIN lockstep.hold h ON h.scope = p.campaign AND h.hold = p.hold
      LEFT JOIN lockstep.transfer t ON t.book = p.campaign AND t.transfer = p.id
      LEFT JOIN lockstep.account b ON b.book = p.campaign AND b.account = 2
      """;

  /** So much of a pool. */
  record Line(long pool, int quantity) {}

  /** A unit of a pool. */
  record Unit(long pool, int unit) {}

  /** A hold: 0 held, 1 sold, 2 released, 3 expired, 4 returned. */
  record Goods(int state, List<Line> lines, List<Unit> units) {
    static final int SOLD = 1;

    boolean sold() {
      return state == SOLD;
    }
  }

  /**
   * What the book of the campaign says.
   *
   * @param posted of the payment; null: nothing
   * @param rightWay from the buyers to the takings
   * @param since when the book was opened; null: none is kept
   */
  record Book(@Nullable Long posted, boolean rightWay, @Nullable Instant since) {}

  static PurchaseFacts read(ResultSet row) throws SQLException {
    int state = row.getInt(16);
    Optional<Goods> goods =
        row.wasNull() ? Optional.empty() : Optional.of(new Goods(state, lines(row), units(row)));
    long posted = row.getLong(21);
    Book book = new Book(row.wasNull() ? null : posted, row.getBoolean(22), instant(row, 23));
    return new PurchaseFacts(
        row.getLong(1),
        row.getObject(2, UUID.class),
        row.getObject(3, UUID.class),
        row.getString(4),
        row.getInt(5),
        row.getLong(6),
        row.getString(7),
        row.getString(8),
        row.getString(9),
        instant(row, 10),
        row.getObject(11, OffsetDateTime.class).toInstant(),
        row.getObject(12, OffsetDateTime.class).toInstant(),
        row.getObject(13, OffsetDateTime.class).toInstant(),
        row.getObject(14, OffsetDateTime.class).toInstant(),
        row.getBoolean(15),
        row.getBoolean(24),
        row.getString(25),
        goods,
        book);
  }

  private static List<Line> lines(ResultSet row) throws SQLException {
    Object[] pools = array(row.getArray(17));
    Object[] quantities = array(row.getArray(18));
    List<Line> lines = new ArrayList<>(pools.length);
    for (int i = 0; i < Math.min(pools.length, quantities.length); i++) {
      lines.add(new Line(((Number) pools[i]).longValue(), ((Number) quantities[i]).intValue()));
    }
    return lines;
  }

  private static List<Unit> units(ResultSet row) throws SQLException {
    Object[] pools = array(row.getArray(19));
    Object[] numbers = array(row.getArray(20));
    List<Unit> units = new ArrayList<>(pools.length);
    for (int i = 0; i < Math.min(pools.length, numbers.length); i++) {
      units.add(new Unit(((Number) pools[i]).longValue(), ((Number) numbers[i]).intValue()));
    }
    return units;
  }

  private static Object[] array(@Nullable Array array) throws SQLException {
    return array == null ? new Object[0] : (Object[]) array.getArray();
  }

  private static @Nullable Instant instant(ResultSet row, int column) throws SQLException {
    OffsetDateTime at = row.getObject(column, OffsetDateTime.class);
    return at == null ? null : at.toInstant();
  }
}
