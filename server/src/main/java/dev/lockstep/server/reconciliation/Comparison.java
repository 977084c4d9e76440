package dev.lockstep.server.reconciliation;

import dev.lockstep.hold.HoldState;
import dev.lockstep.ledger.Transfer.State;
import dev.lockstep.server.account.SaleBooks;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.purchase.Status;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads some purchases with all that belongs to them, or some holds with their purchases, and says
 * what is wrong with them. Each statement is one snapshot, and finds everything by key; on the
 * caller's connection, whose transaction plans {@link dev.lockstep.tx.TxOptions#indexLookups}.
 */
final class Comparison {
  private static final Logger log = LoggerFactory.getLogger(Comparison.class);

  private static final int MAX_REMEMBERED = 10_000;

  private static final String OF_IDS =
      """
      WITH p AS MATERIALIZED (
        SELECT %1$s FROM lockstep_server.purchase p WHERE p.campaign = ? AND p.id = ANY (?))
      SELECT p.*, %2$s"""
          .formatted(PurchaseFacts.OF_PURCHASE, PurchaseFacts.AND_THE_REST);

  // In the order of their age, which is the order they lie in.
  private static final String NEXT_BY_AGE =
      """
      WITH p AS MATERIALIZED (
        SELECT %1$s FROM lockstep_server.purchase p
        WHERE (p.created_at, p.campaign, p.id) > (?, ?, ?)
        ORDER BY p.created_at, p.campaign, p.id LIMIT ?)
      SELECT p.*, %2$s ORDER BY p.created_at, p.campaign, p.id"""
          .formatted(PurchaseFacts.OF_PURCHASE, PurchaseFacts.AND_THE_REST);

  // Only what waits for somebody: what has ended is not in the index.
  private static final String OPEN =
      StoredEnum.sql(
          """
      WITH p AS MATERIALIZED (
        SELECT %1$s FROM lockstep_server.purchase p
        WHERE p.status IN ({Status.PENDING}, {Status.REQUIRES_ACTION}, {Status.REFUNDING})
          AND (p.paid_at IS NOT NULL OR p.deadline <= now() - ? * interval '1 millisecond'
            OR EXISTS (SELECT 1 FROM lockstep_server.purchase_set_aside s
              WHERE s.campaign = p.campaign AND s.id = p.id))
        ORDER BY p.due_at LIMIT ?)
      SELECT p.*, %2$s"""
              .formatted(PurchaseFacts.OF_PURCHASE, PurchaseFacts.AND_THE_REST),
          Status.class);

  private static final String REFUNDS_BOOKED =
      StoredEnum.sql(
          """
      SELECT transfer, posted FROM lockstep.transfer
      WHERE book = ? AND transfer = ANY (?) AND state = {State.POSTED}
        AND source = %d AND target = %d"""
              .formatted(SaleBooks.TAKINGS.value(), SaleBooks.BUYERS.value()),
          State.class);

  // A purchase begins with a hold of its own id; few have another one now.
  private static final String UNPAID =
      StoredEnum.sql(
          """
      SELECT h.scope, h.hold, h.buyer, h.ended_at
      FROM lockstep.hold h
      WHERE h.scope = ? AND h.hold = ANY (?) AND h.state = {HoldState.SOLD}
        AND NOT EXISTS (SELECT 1 FROM lockstep_server.purchase p
          WHERE p.campaign = h.scope AND p.id = h.hold AND p.hold = h.hold
            AND p.status IN ({Status.COMPLETED}, {Status.REFUNDING}, {Status.REFUNDED})
            AND p.paid_at IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM lockstep_server.purchase p
          WHERE p.campaign = h.scope AND p.hold = h.hold AND p.hold <> p.id
            AND p.status IN ({Status.COMPLETED}, {Status.REFUNDING}, {Status.REFUNDED})
            AND p.paid_at IS NOT NULL)""",
          Status.class,
          HoldState.class);

  private static final String PURCHASES_OF =
      """
      SELECT id FROM lockstep_server.purchase WHERE campaign = ? AND id = ANY (?)
      UNION
      SELECT id FROM lockstep_server.purchase WHERE campaign = ? AND hold = ANY (?) AND hold <> id""";

  private final Campaigns campaigns;
  private final Judgement judgement;
  private final long patienceMs;

  /** What has been published never changes what it sells, nor for how much. */
  private final Map<Long, Campaign> remembered = new ConcurrentHashMap<>();

  Comparison(Campaigns campaigns, Judgement judgement, long patienceMs) {
    this.campaigns = campaigns;
    this.judgement = judgement;
    this.patienceMs = patienceMs;
  }

  /** The place of a purchase in the order of their age. */
  record Place(OffsetDateTime at, long campaign, UUID id) {
    static final Place START =
        new Place(OffsetDateTime.of(1, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC), 0, new UUID(0, 0));

    static Place of(JsonObject json) {
      return new Place(
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
   * What was found in a page, and where it ended.
   *
   * @param last of a page that is not empty
   */
  record Page(int purchases, Optional<Place> last, List<Finding> found) {}

  Page next(Connection connection, Place after, int limit) throws SQLException {
    List<PurchaseFacts> facts =
        read(connection, NEXT_BY_AGE, after.at(), after.campaign(), after.id(), limit);
    Optional<Place> last =
        facts.isEmpty() ? Optional.empty() : Optional.of(place(facts.get(facts.size() - 1)));
    return new Page(facts.size(), last, judge(connection, facts));
  }

  /** What has waited for too long, for the provider or for its goods. */
  List<Finding> open(Connection connection, int limit) throws SQLException {
    return judge(connection, read(connection, OPEN, patienceMs, limit));
  }

  List<Finding> purchases(Connection connection, long campaign, Collection<UUID> ids)
      throws SQLException {
    return ids.isEmpty()
        ? List.of()
        : judge(connection, read(connection, OF_IDS, campaign, SqlArray.uuids(ids)));
  }

  /** Holds that are sold and belong to no paid purchase. */
  List<Finding> unpaid(Connection connection, long campaign, Collection<UUID> holds)
      throws SQLException {
    if (holds.isEmpty()) {
      return List.of();
    }
    RoundTrip trip = new RoundTrip(connection);
    Rows<Finding> found =
        trip.query(
            UNPAID,
            row ->
                Finding.ofHold(
                    row.getLong("scope"),
                    row.getObject("hold", UUID.class),
                    row.getString("buyer"),
                    row.getObject("ended_at", OffsetDateTime.class).toInstant(),
                    "sold, and no paid purchase says so"),
            campaign,
            SqlArray.uuids(holds));
    trip.send();
    return found.list();
  }

  /** Of holds that have just changed: whatever is wrong with them or with their purchases. */
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

  private static Place place(PurchaseFacts facts) {
    return new Place(facts.createdAt().atOffset(ZoneOffset.UTC), facts.campaign(), facts.id());
  }

  private static List<PurchaseFacts> read(Connection connection, String sql, Object... parameters)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<PurchaseFacts> rows = trip.query(sql, PurchaseFacts::read, parameters);
    trip.send();
    return rows.list();
  }

  private List<Finding> judge(Connection connection, List<PurchaseFacts> facts)
      throws SQLException {
    List<Finding> found = new ArrayList<>();
    Map<Long, List<PurchaseFacts>> refunded = new HashMap<>();
    for (PurchaseFacts one : facts) {
      found.addAll(judge(connection, one));
      if (one.status() == Status.REFUNDED && one.book().since() != null) {
        refunded.computeIfAbsent(one.campaign(), campaign -> new ArrayList<>()).add(one);
      }
    }
    for (Map.Entry<Long, List<PurchaseFacts>> of : refunded.entrySet()) {
      Map<UUID, Long> booked = refundsBooked(connection, of.getKey(), of.getValue());
      for (PurchaseFacts one : of.getValue()) {
        Long posted =
            refundsOf(one).map(booked::get).filter(Objects::nonNull).findFirst().orElse(null);
        Judgement.refundBooked(one, Optional.ofNullable(posted)).ifPresent(found::add);
      }
    }
    return found;
  }

  /** Alone: one that cannot be judged keeps no other from it. */
  private List<Finding> judge(Connection connection, PurchaseFacts one) throws SQLException {
    try {
      return judgement.of(one, campaign(connection, one.campaign()));
    } catch (RuntimeException e) {
      log.error(
          "Reconciliation: purchase {} cannot be judged: {}",
          Finding.id(one.campaign(), one.id()),
          e.toString());
      return List.of(Finding.of(Kind.SET_ASIDE, one, one.changedAt(), "cannot be compared: " + e));
    }
  }

  /** Written in the transaction that said refunded, so that who sees the one sees the other. */
  private static Map<UUID, Long> refundsBooked(
      Connection connection, long campaign, List<PurchaseFacts> refunded) throws SQLException {
    Map<UUID, Long> booked = new HashMap<>();
    RoundTrip trip = new RoundTrip(connection);
    trip.query(
        REFUNDS_BOOKED,
        row -> booked.put(row.getObject(1, UUID.class), row.getLong(2)),
        campaign,
        SqlArray.uuids(refunded.stream().flatMap(Comparison::refundsOf).toList()));
    trip.send();
    return booked;
  }

  /** The ids that its refund may be posted under; the second is that of older versions. */
  private static Stream<UUID> refundsOf(PurchaseFacts one) {
    return Stream.of(
        SaleBooks.refundOf(one.id()).value(), SaleBooks.olderRefundOf(one.id()).value());
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
