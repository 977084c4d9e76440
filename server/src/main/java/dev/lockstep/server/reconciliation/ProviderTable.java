package dev.lockstep.server.reconciliation;

import dev.lockstep.server.purchase.PartialRefunds;
import dev.lockstep.server.purchase.PurchaseStatus;
import dev.lockstep.server.reconciliation.Comparison.SortKey;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StoredEnum;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Provider objects due for another look, and their purchases. Uses the caller's connection. */
final class ProviderTable {
  private static final String SUSPECT =
      """
      INSERT INTO lockstep_server.provider_look (object, payment, purchase, first_at, due_at)
      VALUES (?, ?, ?, now(), now() + ? * interval '1 millisecond')
      ON CONFLICT (object) DO NOTHING""";

  // Postponed when taken, so that after a crash another look comes later.
  private static final String TAKE_DUE =
      """
      UPDATE lockstep_server.provider_look l SET looks = l.looks + 1,
        due_at = now() + least(? * (1 << least(l.looks + 1, 16)), 3600000) * interval '1 millisecond'
      WHERE l.object IN (SELECT d.object FROM lockstep_server.provider_look d
        WHERE d.due_at <= now() ORDER BY d.due_at LIMIT ?)
      RETURNING l.object, l.payment, l.purchase""";

  private static final String FORGET = "DELETE FROM lockstep_server.provider_look WHERE object = ?";

  private static final String COLUMNS =
      "campaign, id, hold, buyer, status, amount, currency, intent, paid_at, created_at,"
          + " given_back";

  private static final String OF_CAMPAIGN =
      "SELECT " + COLUMNS + " FROM lockstep_server.purchase WHERE campaign = ? AND id = ANY (?)";

  // Purchases with money, a few at a time, by age; others on the page are skipped.
  private static final String NEXT_PAID =
      "SELECT "
          + COLUMNS
          + " FROM lockstep_server.purchase WHERE (created_at, campaign, id) > (?, ?, ?)"
          + " AND created_at < now() - ? * interval '1 millisecond'"
          + " ORDER BY created_at, campaign, id LIMIT ?";

  // By the time of the refund: a bank may return it long after, whatever the purchase's age.
  private static final String NEXT_REFUNDED =
      StoredEnum.sql(
          """
      SELECT %s, changed_at FROM lockstep_server.purchase
      WHERE (status = {PurchaseStatus.REFUNDED} OR given_back IS NOT NULL)
        AND (changed_at, campaign, id) > (?, ?, ?)
        AND changed_at < now() - ? * interval '1 millisecond'
      ORDER BY changed_at, campaign, id LIMIT ?"""
              .formatted(COLUMNS),
          PurchaseStatus.class);

  private ProviderTable() {}

  /** What a purchase here says about its payment. */
  record Paid(
      long campaign,
      UUID id,
      UUID hold,
      String buyer,
      PurchaseStatus status,
      long amount,
      String currency,
      @Nullable String intent,
      boolean paid,
      OffsetDateTime createdAt,
      PartialRefunds partialRefunds) {
    boolean isSold() {
      return status == PurchaseStatus.COMPLETED
          || status == PurchaseStatus.REFUNDING
          || status == PurchaseStatus.REFUNDED;
    }

    /** What was refunded of it so far. */
    long refunded() {
      return status == PurchaseStatus.REFUNDED ? amount : partialRefunds.money();
    }

    boolean isOpen() {
      return status.isOpen();
    }

    String name() {
      return Finding.id(campaign, id);
    }

    SortKey sortKey() {
      return new SortKey(createdAt, campaign, id);
    }
  }

  /** A provider object that is due. */
  record DueLook(String object, @Nullable String payment, @Nullable String purchase) {}

  static void suspect(
      Connection connection,
      String object,
      @Nullable String payment,
      @Nullable String purchase,
      Duration after)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(SUSPECT)) {
      statement.setString(1, object);
      statement.setString(2, payment);
      statement.setString(3, purchase);
      statement.setLong(4, after.toMillis());
      statement.executeUpdate();
    }
  }

  static List<DueLook> takeDue(Connection connection, Duration patience, int limit)
      throws SQLException {
    return RoundTrip.list(
        connection,
        TAKE_DUE,
        row -> new DueLook(row.getString(1), row.getString(2), row.getString(3)),
        patience.toMillis(),
        limit);
  }

  /** It agrees: forgets the second look and all findings. */
  static void agrees(Connection connection, String object) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(FORGET, object);
    trip.send();
    FindingTable.forgetOfProvider(connection, object);
  }

  /**
   * Finds purchases by the names that the provider was given; foreign names are missing from the
   * result.
   */
  static Map<String, Paid> find(Connection connection, Collection<String> names)
      throws SQLException {
    Map<Long, Set<UUID>> byCampaign = new HashMap<>();
    for (String name : names) {
      if (name.matches("[1-9]\\d{0,17}\\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")) {
        byCampaign
            .computeIfAbsent(
                Long.parseLong(name.substring(0, name.indexOf('.'))), campaign -> new HashSet<>())
            .add(Finding.uuid(name));
      }
    }
    Map<String, Paid> found = new HashMap<>();
    for (Map.Entry<Long, Set<UUID>> of : byCampaign.entrySet()) {
      RoundTrip trip = new RoundTrip(connection);
      Rows<Paid> rows =
          trip.query(OF_CAMPAIGN, ProviderTable::paid, of.getKey(), SqlArray.uuids(of.getValue()));
      trip.send();
      rows.list().forEach(one -> found.put(one.name(), one));
    }
    return found;
  }

  static List<SortedPurchase> next(
      Connection connection, SortKey after, Duration patience, int limit) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<SortedPurchase> rows =
        trip.query(
            NEXT_PAID,
            row -> {
              Paid purchase = paid(row);
              return new SortedPurchase(purchase, purchase.sortKey());
            },
            after.at(),
            after.campaign(),
            after.id(),
            patience.toMillis(),
            limit);
    trip.send();
    return rows.list();
  }

  /** A purchase and its position in the pass. */
  record SortedPurchase(Paid purchase, SortKey key) {}

  static List<SortedPurchase> nextRefunded(
      Connection connection, SortKey after, Duration patience, int limit) throws SQLException {
    return RoundTrip.list(
        connection,
        NEXT_REFUNDED,
        row -> {
          Paid purchase = paid(row);
          OffsetDateTime at = row.getObject("changed_at", OffsetDateTime.class);
          return new SortedPurchase(purchase, new SortKey(at, purchase.campaign(), purchase.id()));
        },
        after.at(),
        after.campaign(),
        after.id(),
        patience.toMillis(),
        limit);
  }

  private static Paid paid(ResultSet row) throws SQLException {
    return new Paid(
        row.getLong("campaign"),
        row.getObject("id", UUID.class),
        row.getObject("hold", UUID.class),
        row.getString("buyer"),
        PurchaseStatus.of(row.getInt("status")),
        row.getLong("amount"),
        row.getString("currency"),
        row.getString("intent"),
        row.getObject("paid_at") != null,
        row.getObject("created_at", OffsetDateTime.class),
        PartialRefunds.parse(row.getString("given_back")));
  }
}
