package dev.lockstep.server.reconciliation;

import dev.lockstep.server.reconciliation.Comparison.Place;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The whole, in slices: every purchase in the order of their age, then every hold of every campaign
 * in theirs. A slice is a few index look-ups in a short transaction; where it ended is kept, so
 * that any node goes on there. What changes behind the sweep is seen by {@link Changes}.
 *
 * <p>Not thread-safe: one at a time goes on with it.
 *
 * @param startedAt null: none is under way
 * @param holdsOf the campaign whose holds are being gone through; 0: purchases still are
 * @param workMs how long it has looked, without its rests
 * @param lastAt when the last one that came to its end did so; null: none has
 */
record Sweep(
    @Nullable Instant startedAt,
    Place after,
    long holdsOf,
    long purchases,
    long holds,
    long workMs,
    @Nullable Instant lastAt,
    long lastPurchases,
    long lastHolds,
    long lastWorkMs) {

  /** So long after a sweep has ended the next one begins, in times of what it took. */
  private static final int REST_TIMES = 9;

  private static final String NEXT_CAMPAIGN =
      "SELECT id FROM lockstep_server.campaign WHERE id > ? AND status <> 'draft' ORDER BY id LIMIT 1";

  // By the index hold_newest, which is over this expression and in the order they lie in.
  private static final String NEXT_HOLDS =
      """
      SELECT h.created_at, h.hold, h.state FROM lockstep.hold h
      WHERE h.scope + 0 = ? AND (h.created_at, h.hold) > (?, ?)
      ORDER BY h.created_at, h.hold LIMIT ?""";

  private record HoldPlace(OffsetDateTime at, UUID hold, int state) {}

  /** After one slice, with what was found in it. */
  record Step(Sweep sweep, List<Finding> found) {}

  static Sweep of(JsonObject json) {
    String started = json.getString("startedAt");
    String last = json.getString("lastAt");
    return new Sweep(
        started == null ? null : Instant.parse(started),
        new Place(
            json.containsKey("at") ? OffsetDateTime.parse(json.getString("at")) : Place.START.at(),
            json.getLong("campaign", 0L),
            UUID.fromString(json.getString("id", Place.START.id().toString()))),
        json.getLong("holdsOf", 0L),
        json.getLong("purchases", 0L),
        json.getLong("holds", 0L),
        json.getLong("workMs", 0L),
        last == null ? null : Instant.parse(last),
        json.getLong("lastPurchases", 0L),
        json.getLong("lastHolds", 0L),
        json.getLong("lastWorkMs", 0L));
  }

  JsonObject json() {
    return new JsonObject()
        .put("startedAt", startedAt == null ? null : startedAt.toString())
        .put("at", after.at().toString())
        .put("campaign", after.campaign())
        .put("id", after.id().toString())
        .put("holdsOf", holdsOf)
        .put("purchases", purchases)
        .put("holds", holds)
        .put("workMs", workMs)
        .put("lastAt", lastAt == null ? null : lastAt.toString())
        .put("lastPurchases", lastPurchases)
        .put("lastHolds", lastHolds)
        .put("lastWorkMs", lastWorkMs);
  }

  boolean underWay() {
    return startedAt != null;
  }

  /** A large one waits for nine times as long as it took: it has a tenth of a core at most. */
  boolean isDue(Instant now) {
    return lastAt == null || !now.isBefore(lastAt.plusMillis(lastWorkMs * REST_TIMES));
  }

  Sweep begin(Instant now) {
    return new Sweep(now, Place.START, 0, 0, 0, 0, lastAt, lastPurchases, lastHolds, lastWorkMs);
  }

  Sweep worked(long moreMs) {
    return underWay()
        ? new Sweep(
            startedAt,
            after,
            holdsOf,
            purchases,
            holds,
            workMs + moreMs,
            lastAt,
            lastPurchases,
            lastHolds,
            lastWorkMs)
        : new Sweep(
            null,
            after,
            holdsOf,
            purchases,
            holds,
            workMs,
            lastAt,
            lastPurchases,
            lastHolds,
            lastWorkMs + moreMs);
  }

  /** Goes on by one slice. */
  Step next(Connection connection, Comparison comparison, int limit) throws SQLException {
    if (holdsOf != 0) {
      return nextHolds(connection, comparison, limit);
    }
    Comparison.Page page = comparison.next(connection, after, limit);
    if (page.last().isPresent()) {
      return new Step(at(page.last().get(), 0, purchases + page.purchases(), holds), page.found());
    }
    return new Step(toNextCampaign(connection), List.of());
  }

  private Step nextHolds(Connection connection, Comparison comparison, int limit)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<HoldPlace> rows =
        trip.query(
            NEXT_HOLDS,
            row ->
                new HoldPlace(
                    row.getObject(1, OffsetDateTime.class),
                    row.getObject(2, UUID.class),
                    row.getInt(3)),
            holdsOf,
            after.at(),
            after.id(),
            limit);
    trip.send();
    List<HoldPlace> read = rows.list();
    if (read.isEmpty()) {
      return new Step(toNextCampaign(connection), List.of());
    }
    List<UUID> sold = new ArrayList<>();
    for (HoldPlace hold : read) {
      if (hold.state() == PurchaseFacts.Goods.SOLD) {
        sold.add(hold.hold());
      }
    }
    HoldPlace last = read.get(read.size() - 1);
    return new Step(
        at(
            new Place(last.at().withOffsetSameInstant(ZoneOffset.UTC), 0, last.hold()),
            holdsOf,
            purchases,
            holds + read.size()),
        comparison.unpaid(connection, holdsOf, sold));
  }

  /** The holds of the next campaign from their first; or it has come to its end. */
  private Sweep toNextCampaign(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Long> next = trip.query(NEXT_CAMPAIGN, row -> row.getLong(1), holdsOf);
    Rows<Instant> now =
        trip.query("SELECT now()", row -> row.getObject(1, OffsetDateTime.class).toInstant());
    trip.send();
    Optional<Long> campaign = next.list().stream().findFirst();
    return campaign.isPresent()
        ? at(Place.START, campaign.get(), purchases, holds)
        : new Sweep(null, Place.START, 0, 0, 0, 0, now.list().get(0), purchases, holds, workMs);
  }

  private Sweep at(Place place, long campaign, long morePurchases, long moreHolds) {
    return new Sweep(
        startedAt,
        place,
        campaign,
        morePurchases,
        moreHolds,
        workMs,
        lastAt,
        lastPurchases,
        lastHolds,
        lastWorkMs);
  }
}
