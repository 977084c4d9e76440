package dev.lockstep.server.reconciliation;

import dev.lockstep.hold.HoldState;
import dev.lockstep.ledger.Transfer.State;
import dev.lockstep.server.account.SaleBooks;
import dev.lockstep.server.purchase.Status;
import dev.lockstep.sql.StoredEnum;
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
    Status status,
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
  /** What is needed of a purchase, from {@code p}. */
  static final String OF_PURCHASE =
      "p.campaign, p.id, p.hold, p.buyer, p.status, p.amount, p.currency, p.items, p.intent,"
          + " p.paid_at, p.created_at, p.changed_at, p.deadline";

  /** The rest of the columns, and where they come from: by their keys, whatever the sizes. */
  static final String AND_THE_REST =
      StoredEnum.sql(
          """
        now() AS read_at,
        EXISTS (SELECT 1 FROM lockstep_server.draw d WHERE d.campaign = p.campaign) AS drawn,
        h.state, h.pools, h.quantities, h.unit_pools, h.units,
        t.posted, t.state = {State.POSTED} AND t.source = %1$d AND t.target = %2$d AS right_way,
        b.created_at AS book_since,
        EXISTS (SELECT 1 FROM lockstep_server.purchase o
          WHERE o.campaign = p.campaign AND o.hold = p.hold AND o.hold <> o.id AND o.id <> p.id
            AND o.status IN ({Status.COMPLETED}, {Status.REFUNDING}) AND o.paid_at IS NOT NULL)
        OR p.hold <> p.id AND EXISTS (SELECT 1 FROM lockstep_server.purchase o
          WHERE o.campaign = p.campaign AND o.id = p.hold AND o.hold = p.hold
            AND o.status IN ({Status.COMPLETED}, {Status.REFUNDING})
            AND o.paid_at IS NOT NULL) AS shared,
        (SELECT s.reason FROM lockstep_server.purchase_set_aside s
          WHERE s.campaign = p.campaign AND s.id = p.id) AS set_aside
      FROM p
      LEFT JOIN lockstep.hold h ON h.scope = p.campaign AND h.hold = p.hold
      LEFT JOIN lockstep.transfer t ON t.book = p.campaign AND t.transfer = p.id
      LEFT JOIN lockstep.account b ON b.book = p.campaign AND b.account = %2$d
      """
              .formatted(SaleBooks.BUYERS.value(), SaleBooks.TAKINGS.value()),
          Status.class,
          State.class);

  /** So much of a pool. */
  record Line(long pool, int quantity) {}

  /** A unit of a pool. */
  record Unit(long pool, int unit) {}

  /**
   * A hold.
   *
   * @param state the code of a {@link HoldState}
   */
  record Goods(int state, List<Line> lines, List<Unit> units) {
    static final int SOLD = HoldState.SOLD.code();

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
    int state = row.getInt("state");
    Optional<Goods> goods =
        row.wasNull() ? Optional.empty() : Optional.of(new Goods(state, lines(row), units(row)));
    long posted = row.getLong("posted");
    Book book =
        new Book(
            row.wasNull() ? null : posted, row.getBoolean("right_way"), instant(row, "book_since"));
    return new PurchaseFacts(
        row.getLong("campaign"),
        row.getObject("id", UUID.class),
        row.getObject("hold", UUID.class),
        row.getString("buyer"),
        Status.of(row.getInt("status")),
        row.getLong("amount"),
        row.getString("currency"),
        row.getString("items"),
        row.getString("intent"),
        instant(row, "paid_at"),
        row.getObject("created_at", OffsetDateTime.class).toInstant(),
        row.getObject("changed_at", OffsetDateTime.class).toInstant(),
        row.getObject("deadline", OffsetDateTime.class).toInstant(),
        row.getObject("read_at", OffsetDateTime.class).toInstant(),
        row.getBoolean("drawn"),
        row.getBoolean("shared"),
        row.getString("set_aside"),
        goods,
        book);
  }

  private static List<Line> lines(ResultSet row) throws SQLException {
    Object[] pools = array(row.getArray("pools"));
    Object[] quantities = array(row.getArray("quantities"));
    List<Line> lines = new ArrayList<>(pools.length);
    for (int i = 0; i < Math.min(pools.length, quantities.length); i++) {
      lines.add(new Line(((Number) pools[i]).longValue(), ((Number) quantities[i]).intValue()));
    }
    return lines;
  }

  private static List<Unit> units(ResultSet row) throws SQLException {
    Object[] pools = array(row.getArray("unit_pools"));
    Object[] numbers = array(row.getArray("units"));
    List<Unit> units = new ArrayList<>(pools.length);
    for (int i = 0; i < Math.min(pools.length, numbers.length); i++) {
      units.add(new Unit(((Number) pools[i]).longValue(), ((Number) numbers[i]).intValue()));
    }
    return units;
  }

  private static Object[] array(@Nullable Array array) throws SQLException {
    return array == null ? new Object[0] : (Object[]) array.getArray();
  }

  private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
    OffsetDateTime at = row.getObject(column, OffsetDateTime.class);
    return at == null ? null : at.toInstant();
  }
}
