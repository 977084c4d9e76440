package dev.lockstep.server.reconciliation;

import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldRecords;
import dev.lockstep.hold.HoldState;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.purchase.PurchaseStatus;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StoredEnum;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads some purchases with all that belongs to them, or some holds with their purchases, and
 * reports what is wrong with them. Finds everything by key, on the caller's connection. Its
 * transaction is {@link dev.lockstep.tx.Isolation#REPEATABLE_READ}, so that all statements see one
 * snapshot, and uses {@link dev.lockstep.tx.TxOptions#indexLookups}.
 */
final class Comparison {
  private static final Logger log = LoggerFactory.getLogger(Comparison.class);

  private static final int MAX_REMEMBERED = 10_000;
  private static final int MAX_DETAIL = 500;

  private static final String OF_IDS =
      """
      WITH p AS MATERIALIZED (
        SELECT %1$s FROM lockstep_server.purchase p WHERE p.campaign = ? AND p.id = ANY (?))
      SELECT p.*, %2$s"""
          .formatted(PurchaseFacts.OF_PURCHASE, PurchaseFacts.AND_THE_REST);

  // By age, which is also the physical order.
  private static final String NEXT_BY_AGE =
      """
      WITH p AS MATERIALIZED (
        SELECT %1$s FROM lockstep_server.purchase p
        WHERE (p.created_at, p.campaign, p.id) > (?, ?, ?)
        ORDER BY p.created_at, p.campaign, p.id LIMIT ?)
      SELECT p.*, %2$s ORDER BY p.created_at, p.campaign, p.id"""
          .formatted(PurchaseFacts.OF_PURCHASE, PurchaseFacts.AND_THE_REST);

  // Unfinished purchases only: ended ones are not in the index.
  private static final String OPEN =
      StoredEnum.sql(
          """
      WITH p AS MATERIALIZED (
        SELECT %1$s FROM lockstep_server.purchase p
        WHERE p.status IN ({PurchaseStatus.PENDING}, {PurchaseStatus.REQUIRES_ACTION}, {PurchaseStatus.REFUNDING},
            {PurchaseStatus.REQUIRES_PAYMENT_METHOD})
          AND (p.paid_at IS NOT NULL OR p.deadline <= now() - ? * interval '1 millisecond'
            OR EXISTS (SELECT 1 FROM lockstep_server.purchase_set_aside s
              WHERE s.campaign = p.campaign AND s.id = p.id))
        ORDER BY p.due_at LIMIT ?)
      SELECT p.*, %2$s"""
              .formatted(PurchaseFacts.OF_PURCHASE, PurchaseFacts.AND_THE_REST),
          PurchaseStatus.class);

  // A purchase begins with a hold of its own id; few have another one now.
  private static final String WITHOUT_PAID_PURCHASE =
      StoredEnum.sql(
          """
      SELECT sold.hold FROM unnest(?) AS sold (hold)
      WHERE NOT EXISTS (SELECT 1 FROM lockstep_server.purchase p
          WHERE p.campaign = ? AND p.id = sold.hold AND p.hold = sold.hold
            AND p.status IN ({PurchaseStatus.COMPLETED}, {PurchaseStatus.REFUNDING}, {PurchaseStatus.REFUNDED})
            AND p.paid_at IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM lockstep_server.purchase p
          WHERE p.campaign = ? AND p.hold = sold.hold AND p.hold <> p.id
            AND p.status IN ({PurchaseStatus.COMPLETED}, {PurchaseStatus.REFUNDING}, {PurchaseStatus.REFUNDED})
            AND p.paid_at IS NOT NULL)""",
          PurchaseStatus.class);

  private static final String PURCHASES_OF =
      """
      SELECT id FROM lockstep_server.purchase WHERE campaign = ? AND id = ANY (?)
      UNION
      SELECT id FROM lockstep_server.purchase WHERE campaign = ? AND hold = ANY (?) AND hold <> id""";

  private final Campaigns campaigns;
  private final Judgement judgement;
  private final long patienceMs;

  /** Published campaigns, which never change what they sell or its price. */
  private final Map<Long, Campaign> remembered = new ConcurrentHashMap<>();

  Comparison(Campaigns campaigns, Judgement judgement, long patienceMs) {
    this.campaigns = campaigns;
    this.judgement = judgement;
    this.patienceMs = patienceMs;
  }

  /** A purchase's position in the order of age. */
  record SortKey(OffsetDateTime at, long campaign, UUID id) {
    static final SortKey START =
        new SortKey(OffsetDateTime.of(1, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC), 0, new UUID(0, 0));

    static SortKey of(JsonObject json) {
      return new SortKey(
          OffsetDateTime.parse(json.getString("at")),
          json.getLong("campaign"),
          UUID.fromString(json.getString("id")));
    }

    JsonObject json() {
      return new JsonObject()
          .put("at", at.toString())
          .put("campaign", campaign)
          .put("id", id.toString());
    }
  }

  /**
   * The findings of a page, and where it ended.
   *
   * @param last empty for an empty page
   */
  record Page(int purchases, Optional<SortKey> last, List<Finding> found) {}

  Page next(Connection connection, SortKey after, int limit) throws SQLException {
    List<PurchaseFacts> facts =
        FactsReader.read(connection, NEXT_BY_AGE, after.at(), after.campaign(), after.id(), limit);
    Optional<SortKey> last =
        facts.isEmpty() ? Optional.empty() : Optional.of(sortKey(facts.get(facts.size() - 1)));
    return new Page(facts.size(), last, judge(connection, facts));
  }

  /** Purchases that have waited too long, for the provider or for their goods. */
  List<Finding> open(Connection connection, int limit) throws SQLException {
    return judge(connection, FactsReader.read(connection, OPEN, patienceMs, limit));
  }

  List<Finding> purchases(Connection connection, long campaign, Collection<UUID> ids)
      throws SQLException {
    return ids.isEmpty()
        ? List.of()
        : judge(connection, FactsReader.read(connection, OF_IDS, campaign, SqlArray.uuids(ids)));
  }

  /** Holds that are sold without a paid purchase. */
  List<Finding> unpaid(Connection connection, long campaign, Collection<UUID> holds)
      throws SQLException {
    if (holds.isEmpty()) {
      return List.of();
    }
    RoundTrip trip = new RoundTrip(connection);
    Rows<HoldId> suspects =
        trip.query(
            WITHOUT_PAID_PURCHASE,
            row -> new HoldId(row.getObject(1, UUID.class)),
            SqlArray.uuids(holds),
            campaign,
            campaign);
    trip.send();
    return HoldRecords.find(connection, Map.of(new ScopeId(campaign), suspects.list())).stream()
        .filter(hold -> hold.state() == HoldState.SOLD)
        .map(
            hold ->
                Finding.ofHold(
                    campaign,
                    hold.id().value(),
                    hold.buyer().value(),
                    hold.end().orElseThrow().at(),
                    "sold, and no paid purchase says so"))
        .toList();
  }

  /** Judges holds that have just changed, with their purchases. */
  List<Finding> holds(Connection connection, long campaign, Collection<UUID> holds)
      throws SQLException {
    if (holds.isEmpty()) {
      return List.of();
    }
    RoundTrip trip = new RoundTrip(connection);
    SqlArray ids = SqlArray.uuids(holds);
    Rows<UUID> purchases =
        trip.query(PURCHASES_OF, row -> row.getObject(1, UUID.class), campaign, ids, campaign, ids);
    trip.send();
    List<Finding> found = new ArrayList<>(unpaid(connection, campaign, holds));
    found.addAll(purchases(connection, campaign, purchases.list()));
    return found;
  }

  private static SortKey sortKey(PurchaseFacts facts) {
    return new SortKey(facts.createdAt().atOffset(ZoneOffset.UTC), facts.campaign(), facts.id());
  }

  private List<Finding> judge(Connection connection, List<PurchaseFacts> facts)
      throws SQLException {
    List<Finding> found = new ArrayList<>();
    List<PurchaseFacts> refunded = new ArrayList<>();
    for (PurchaseFacts one : facts) {
      found.addAll(judge(connection, one));
      if (one.refunded() > 0 && one.book().since() != null) {
        refunded.add(one);
      }
    }
    Map<PurchaseFacts, Long> booked = FactsReader.refundsBooked(connection, refunded);
    for (PurchaseFacts one : refunded) {
      Judgement.refundBooked(one, Optional.ofNullable(booked.get(one))).ifPresent(found::add);
    }
    return found;
  }

  /** Separately, so that a purchase that cannot be judged does not hide others. */
  private List<Finding> judge(Connection connection, PurchaseFacts one) throws SQLException {
    try {
      return judgement.of(one, campaign(connection, one.campaign()));
    } catch (RuntimeException e) {
      log.error(
          "Reconciliation: purchase {} cannot be judged: {}",
          Finding.id(one.campaign(), one.id()),
          e.toString());
      return List.of(
          Finding.of(FindingKind.SET_ASIDE, one, one.changedAt(), cut("cannot be compared: " + e)));
    }
  }

  /** An exception's message has no bound. */
  private static String cut(String detail) {
    return detail.substring(0, Math.min(detail.length(), MAX_DETAIL));
  }

  private Optional<Campaign> campaign(Connection connection, long id) throws SQLException {
    Campaign known = remembered.get(id);
    if (known != null) {
      return Optional.of(known);
    }
    Optional<Campaign> found = campaigns.find(connection, id);
    if (found.isPresent()) {
      if (remembered.size() >= MAX_REMEMBERED) {
        remembered.clear();
      }
      remembered.put(id, found.get());
    }
    return found;
  }
}
