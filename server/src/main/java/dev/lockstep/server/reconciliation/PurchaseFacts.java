package dev.lockstep.server.reconciliation;

import dev.lockstep.hold.HeldLine;
import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldState;
import dev.lockstep.server.purchase.PartialRefunds;
import dev.lockstep.server.purchase.PurchaseStatus;
import dev.lockstep.sql.StoredEnum;
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
 * A purchase with its goods and its entries in the campaign's book, in one snapshot.
 *
 * @param now the time of the snapshot
 * @param goods empty if there is no such hold
 * @param shared whether another paid purchase is completed on the same hold
 * @param setAside why the timer cannot process it; null if it can
 * @param drawn whether a draw depends on the campaign's sales
 */
record PurchaseFacts(
    long campaign,
    UUID id,
    UUID hold,
    String buyer,
    PurchaseStatus status,
    long amount,
    String currency,
    String items,
    @Nullable String intent,
    PartialRefunds partialRefunds,
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
  /** The columns of a purchase {@code p}. */
  static final String OF_PURCHASE =
      "p.campaign, p.id, p.hold, p.buyer, p.status, p.amount, p.currency, p.items, p.intent,"
          + " p.paid_at, p.created_at, p.changed_at, p.deadline, p.given_back";

  /** The other columns and their tables, joined by key whatever the sizes. */
  static final String AND_THE_REST =
      StoredEnum.sql(
          """
        now() AS read_at,
        EXISTS (SELECT 1 FROM lockstep_server.draw d WHERE d.campaign = p.campaign) AS drawn,
        EXISTS (SELECT 1 FROM lockstep_server.purchase o
          WHERE o.campaign = p.campaign AND o.hold = p.hold AND o.hold <> o.id AND o.id <> p.id
            AND o.status IN ({PurchaseStatus.COMPLETED}, {PurchaseStatus.REFUNDING}) AND o.paid_at IS NOT NULL)
        OR p.hold <> p.id AND EXISTS (SELECT 1 FROM lockstep_server.purchase o
          WHERE o.campaign = p.campaign AND o.id = p.hold AND o.hold = p.hold
            AND o.status IN ({PurchaseStatus.COMPLETED}, {PurchaseStatus.REFUNDING})
            AND o.paid_at IS NOT NULL) AS shared,
        (SELECT s.reason FROM lockstep_server.purchase_set_aside s
          WHERE s.campaign = p.campaign AND s.id = p.id) AS set_aside
      FROM p
      """,
          PurchaseStatus.class);

  /** What was refunded, according to the purchase. */
  long refunded() {
    return status == PurchaseStatus.REFUNDED ? amount : partialRefunds.money();
  }

  /** What was paid for the goods that it still has. */
  long forGoods() {
    return amount - partialRefunds.goods();
  }

  /** A quantity of a pool. */
  record Line(long pool, int quantity) {}

  /** A unit of a pool. */
  record Unit(long pool, int unit) {}

  /** A hold. */
  record Goods(boolean sold, List<Line> lines, List<Unit> units) {
    static Goods of(Hold hold) {
      List<Line> lines = new ArrayList<>();
      List<Unit> units = new ArrayList<>();
      for (HeldLine line : hold.lines()) {
        long pool = line.pool().value();
        lines.add(new Line(pool, line.quantity()));
        line.units().forEach(unit -> units.add(new Unit(pool, unit)));
      }
      return new Goods(hold.state() == HoldState.SOLD, lines, units);
    }
  }

  /**
   * The campaign's book.
   *
   * @param posted of the payment; null if nothing
   * @param rightWay from the buyers to the takings
   * @param since when the book was opened; null if there is none
   */
  record Book(@Nullable Long posted, boolean rightWay, @Nullable Instant since) {}

  /** Reads the purchase itself; other statements read its hold and its entries in the book. */
  static PurchaseFacts read(ResultSet row) throws SQLException {
    return new PurchaseFacts(
        row.getLong("campaign"),
        row.getObject("id", UUID.class),
        row.getObject("hold", UUID.class),
        row.getString("buyer"),
        PurchaseStatus.of(row.getInt("status")),
        row.getLong("amount"),
        row.getString("currency"),
        row.getString("items"),
        row.getString("intent"),
        PartialRefunds.parse(row.getString("given_back")),
        instant(row, "paid_at"),
        row.getObject("created_at", OffsetDateTime.class).toInstant(),
        row.getObject("changed_at", OffsetDateTime.class).toInstant(),
        row.getObject("deadline", OffsetDateTime.class).toInstant(),
        row.getObject("read_at", OffsetDateTime.class).toInstant(),
        row.getBoolean("drawn"),
        row.getBoolean("shared"),
        row.getString("set_aside"),
        Optional.empty(),
        new Book(null, false, null));
  }

  PurchaseFacts with(Optional<Goods> goods, Book book) {
    return new PurchaseFacts(
        campaign,
        id,
        hold,
        buyer,
        status,
        amount,
        currency,
        items,
        intent,
        partialRefunds,
        paidAt,
        createdAt,
        changedAt,
        deadline,
        now,
        drawn,
        shared,
        setAside,
        goods,
        book);
  }

  private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
    OffsetDateTime at = row.getObject(column, OffsetDateTime.class);
    return at == null ? null : at.toInstant();
  }
}
