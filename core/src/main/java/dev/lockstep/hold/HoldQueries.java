package dev.lockstep.hold;

import dev.lockstep.hold.ScopeState.StoredHold;
import dev.lockstep.hold.StockChange.Cause;
import dev.lockstep.sql.StoredEnum;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Queries that lock nothing. */
final class HoldQueries {
  private static final String FIND =
      "SELECT %s FROM lockstep.hold WHERE scope = ? AND hold = ?".formatted(HoldRow.COLUMNS);

  // Walks the index hold_newest from the newest hold: it has this order and this expression, so
  // reading stops with the page. Unused filters are left out, because "or no filter" would hide the
  // range from the planner.
  private static final String PAGE =
      "SELECT %s FROM lockstep.hold WHERE scope = ? AND scope + 0 = ?".formatted(HoldRow.COLUMNS);
  private static final String OF_BUYER = " AND buyer = ?";
  private static final String IN_STATE = " AND state = ?";
  private static final String BEFORE = " AND (created_at, hold) < (?, ?)";
  private static final String NEWEST_FIRST = " ORDER BY created_at DESC, hold DESC LIMIT ?";

  private static final String AUDIT_PAGE =
      """
      SELECT a.seq, a.hold, a.cause, a.actor, a.held_before, a.held_after, a.sold_before, a.sold_after,
        a.at, coalesce(a.total_before, t.total) AS total_before,
        coalesce(a.total_after, t.total) AS total_after
      FROM lockstep.stock_audit a
      LEFT JOIN LATERAL (
        SELECT total_after AS total FROM lockstep.stock_audit
        WHERE scope = a.scope AND pool = a.pool AND total_after IS NOT NULL AND seq <= a.seq
        ORDER BY seq DESC LIMIT 1) t ON true
      WHERE a.scope = ? AND a.pool = ? AND a.seq > ? ORDER BY a.seq LIMIT ?""";

  // One index probe per scope: the cost grows with the scopes, not with the holds.
  private static final String SCOPES_WITH_EXPIRED =
      StoredEnum.sql(
          """
      SELECT s.scope FROM lockstep.scope s
      CROSS JOIN LATERAL (
        SELECT FROM lockstep.hold h
        WHERE h.scope = s.scope AND h.state = {HoldState.HELD} AND h.expires_at <= now()
        ORDER BY h.expires_at LIMIT 1) due
      ORDER BY s.scope""",
          HoldState.class);

  // As above: one probe per scope into the index of expiring holds. Looks no further ahead than
  // asked: holds that were sold long before their expiry stay in the index until VACUUM removes
  // them.
  private static final String NEXT_EXPIRY =
      StoredEnum.sql(
          """
      SELECT extract(epoch FROM min(due.expires_at) - now()) * 1000 FROM lockstep.scope s
      CROSS JOIN LATERAL (
        SELECT h.expires_at FROM lockstep.hold h
        WHERE h.scope = s.scope AND h.state = {HoldState.HELD}
          AND h.expires_at <= now() + ? * interval '1 millisecond'
        ORDER BY h.expires_at LIMIT 1) due""",
          HoldState.class);

  // The unit names its hold, and the hold says whether it was sold. Units and holds are appended
  // and sorted, not joined: in a transaction with index lookups, or with a planner that has no
  // statistics of the scope, a join would compare every hold with every unit.
  private static final String TAKEN_UNITS =
      StoredEnum.sql(
          """
      SELECT pool, unit, hold, state FROM (
        SELECT pool, unit, hold, max(state) OVER (PARTITION BY hold) AS state FROM (
          SELECT pool, unit, hold, NULL AS state FROM lockstep.unit
          WHERE scope = ? AND hold IS NOT NULL
          UNION ALL
          SELECT NULL, NULL, hold, state FROM lockstep.hold
          WHERE scope = ? AND state IN ({HoldState.HELD}, {HoldState.SOLD})
        ) AS both_tables) AS told
      WHERE unit IS NOT NULL AND state IS NOT NULL ORDER BY pool, unit""",
          HoldState.class);

  private HoldQueries() {}

  static Optional<Hold> find(Connection connection, ScopeId scope, HoldId hold)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(FIND)) {
      statement.setLong(1, scope.value());
      statement.setObject(2, hold.value());
      try (ResultSet row = statement.executeQuery()) {
        return row.next()
            ? Optional.of(HoldRow.read(scope, row)).map(StoredHold::hold)
            : Optional.empty();
      }
    }
  }

  static List<Hold> page(Connection connection, ScopeId scope, HoldFilter filter, int limit)
      throws SQLException {
    requirePage(limit);
    StringBuilder sql = new StringBuilder(PAGE);
    List<Object> values = new ArrayList<>(List.of(scope.value(), scope.value()));
    filter.buyer().ifPresent(buyer -> add(sql, OF_BUYER, values, buyer.value()));
    filter.state().ifPresent(state -> add(sql, IN_STATE, values, state.code()));
    if (filter.after().isPresent()) {
      Optional<Hold> after = find(connection, scope, filter.after().get());
      if (after.isEmpty()) {
        return List.of();
      }
      add(sql, BEFORE, values, after.get().createdAt().atOffset(ZoneOffset.UTC));
      values.add(after.get().id().value());
    }
    add(sql, NEWEST_FIRST, values, limit);
    try (PreparedStatement statement = connection.prepareStatement(sql.toString())) {
      for (int i = 0; i < values.size(); i++) {
        statement.setObject(i + 1, values.get(i));
      }
      List<Hold> holds = new ArrayList<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          holds.add(HoldRow.read(scope, row).hold());
        }
      }
      return holds;
    }
  }

  private static void requirePage(int limit) {
    if (limit < 1 || limit > Holds.MAX_PAGE) {
      throw new IllegalArgumentException(
          "limit must be 1 to " + Holds.MAX_PAGE + " rows, is " + limit);
    }
  }

  private static void add(StringBuilder sql, String part, List<Object> values, Object value) {
    sql.append(part);
    values.add(value);
  }

  static List<StockChange> audit(
      Connection connection, ScopeId scope, PoolId pool, long afterSeq, int limit)
      throws SQLException {
    requirePage(limit);
    try (PreparedStatement statement = connection.prepareStatement(AUDIT_PAGE)) {
      statement.setLong(1, scope.value());
      statement.setLong(2, pool.value());
      statement.setLong(3, afterSeq);
      statement.setInt(4, limit);
      List<StockChange> changes = new ArrayList<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          changes.add(change(pool, row));
        }
      }
      return changes;
    }
  }

  static List<TakenUnit> takenUnits(Connection connection, ScopeId scope) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(TAKEN_UNITS)) {
      statement.setLong(1, scope.value());
      statement.setLong(2, scope.value());
      List<TakenUnit> units = new ArrayList<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          units.add(
              new TakenUnit(
                  new PoolId(row.getLong("pool")),
                  row.getInt("unit"),
                  new HoldId(row.getObject("hold", UUID.class)),
                  HoldState.of(row.getInt("state"))));
        }
      }
      return units;
    }
  }

  static List<ScopeId> scopesWithExpired(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(SCOPES_WITH_EXPIRED);
        ResultSet row = statement.executeQuery()) {
      List<ScopeId> scopes = new ArrayList<>();
      while (row.next()) {
        scopes.add(new ScopeId(row.getLong(1)));
      }
      return scopes;
    }
  }

  static Optional<Duration> untilNextExpiry(Connection connection, Duration within)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(NEXT_EXPIRY)) {
      statement.setLong(1, within.toMillis());
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        double ms = row.getDouble(1);
        return row.wasNull()
            ? Optional.empty()
            : Optional.of(Duration.ofMillis((long) Math.ceil(Math.max(0, ms))));
      }
    }
  }

  private static StockChange change(PoolId pool, ResultSet row) throws SQLException {
    return new StockChange(
        pool,
        row.getLong("seq"),
        new HoldId(row.getObject("hold", UUID.class)),
        Cause.of(row.getInt("cause")),
        row.getString("actor"),
        new PoolCounts(
            pool, row.getInt("total_before"), row.getInt("held_before"), row.getInt("sold_before")),
        new PoolCounts(
            pool, row.getInt("total_after"), row.getInt("held_after"), row.getInt("sold_after")),
        row.getObject("at", OffsetDateTime.class).toInstant());
  }
}
