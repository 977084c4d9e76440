package dev.lockstep.server.reconciliation;

import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldRecords;
import dev.lockstep.hold.HoldRecords.ByAge;
import dev.lockstep.hold.HoldState;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.server.reconciliation.Comparison.SortKey;
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
 * A pass over everything, in slices: all purchases by age, then the holds of each campaign by age.
 * A slice is a few index look-ups in a short transaction. Progress is stored, so that any node can
 * continue. {@link Changes} covers what changes behind the sweep.
 *
 * <p>Not thread-safe: one thread at a time continues it.
 *
 * @param startedAt null if none is in progress
 * @param holdsOf the campaign whose holds are being checked; 0 during purchases
 * @param workMs how long it has worked, without its rests
 * @param lastAt when the last complete sweep ended; null if none has
 */
record Sweep(
    @Nullable Instant startedAt,
    SortKey after,
    long holdsOf,
    long purchases,
    long holds,
    long workMs,
    @Nullable Instant lastAt,
    long lastPurchases,
    long lastHolds,
    long lastWorkMs) {

  /** The pause between sweeps, in multiples of the last one's duration. */
  private static final int REST_TIMES = 9;

  private static final String NEXT_CAMPAIGN =
      "SELECT id FROM lockstep_server.campaign WHERE id > ? AND status <> 'draft' ORDER BY id LIMIT"
          + " 1";

  /** The sweep after one slice, and what the slice found. */
  record Step(Sweep sweep, List<Finding> found) {}

  static Sweep of(JsonObject json) {
    String started = json.getString("startedAt");
    String last = json.getString("lastAt");
    return new Sweep(
        started == null ? null : Instant.parse(started),
        new SortKey(
            json.containsKey("at")
                ? OffsetDateTime.parse(json.getString("at"))
                : SortKey.START.at(),
            json.getLong("campaign", 0L),
            UUID.fromString(json.getString("id", SortKey.START.id().toString()))),
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

  /** Pauses for nine times its duration: a sweep takes a tenth of a core at most. */
  boolean isDue(Instant now) {
    return lastAt == null || !now.isBefore(lastAt.plusMillis(lastWorkMs * REST_TIMES));
  }

  Sweep begin(Instant now) {
    return new Sweep(now, SortKey.START, 0, 0, 0, 0, lastAt, lastPurchases, lastHolds, lastWorkMs);
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

  /** Processes one slice. */
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
    List<ByAge> read =
        HoldRecords.oldestFirst(
            connection,
            new ScopeId(holdsOf),
            after.at().toInstant(),
            new HoldId(after.id()),
            limit);
    if (read.isEmpty()) {
      return new Step(toNextCampaign(connection), List.of());
    }
    List<UUID> sold = new ArrayList<>();
    for (ByAge hold : read) {
      if (hold.state() == HoldState.SOLD) {
        sold.add(hold.id().value());
      }
    }
    ByAge last = read.get(read.size() - 1);
    return new Step(
        at(
            new SortKey(last.createdAt().atOffset(ZoneOffset.UTC), 0, last.id().value()),
            holdsOf,
            purchases,
            holds + read.size()),
        comparison.unpaid(connection, holdsOf, sold));
  }

  /** Moves to the first hold of the next campaign, or ends the sweep. */
  private Sweep toNextCampaign(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Long> next = trip.query(NEXT_CAMPAIGN, row -> row.getLong(1), holdsOf);
    Rows<Instant> now = trip.now();
    trip.send();
    Optional<Long> campaign = next.list().stream().findFirst();
    return campaign.isPresent()
        ? at(SortKey.START, campaign.get(), purchases, holds)
        : new Sweep(null, SortKey.START, 0, 0, 0, 0, now.list().get(0), purchases, holds, workMs);
  }

  private Sweep at(SortKey key, long campaign, long morePurchases, long moreHolds) {
    return new Sweep(
        startedAt,
        key,
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
