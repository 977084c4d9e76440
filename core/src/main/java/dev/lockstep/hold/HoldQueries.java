package dev.lockstep.hold;

import dev.lockstep.hold.ScopeState.StoredHold;
import dev.lockstep.hold.StockChange.Cause;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Reads that lock nothing. */
final class HoldQueries {
  private static final String FIND =
      "SELECT %s FROM lockstep.hold WHERE scope = ? AND hold = ?".formatted(HoldRow.COLUMNS);

  // No index serves this order: the scope's holds are read and the newest kept, as a person may ask
  // for now and then. An index would be one more to write with every hold.
  private static final String PAGE =
      """
      SELECT %s FROM lockstep.hold
      WHERE scope = ? AND (?::text IS NULL OR buyer = ?) AND (?::smallint IS NULL OR state = ?)
        AND (?::uuid IS NULL OR (created_at, hold)
          < (SELECT created_at, hold FROM lockstep.hold WHERE scope = ? AND hold = ?))
      ORDER BY created_at DESC, hold DESC LIMIT ?"""
          .formatted(HoldRow.COLUMNS);

  private static final String AUDIT_PAGE =
      """
      SELECT a.seq, a.hold, a.cause, a.actor, a.held_before, a.held_after, a.sold_before, a.sold_after,
        a.at, p.total
      FROM lockstep.stock_audit a
      JOIN lockstep.pool p ON p.scope = a.scope AND p.pool = a.pool
      WHERE a.scope = ? AND a.pool = ? AND a.seq > ? ORDER BY a.seq LIMIT ?""";

  // Scopes one after the other, each found by one step into the index: the cost grows with the
  // scopes that have something expired, not with the holds.
  private static final String SCOPES_WITH_EXPIRED =
      """
      SELECT s.scope FROM lockstep.scope s
      CROSS JOIN LATERAL (
        SELECT FROM lockstep.hold h
        WHERE h.scope = s.scope AND h.state = 0 AND h.expires_at <= now()
        ORDER BY h.expires_at LIMIT 1) due
      ORDER BY s.scope""";

  // By the units' primary key, then each hold by its own: the unit says who has it, the hold
  // whether
  // it was sold.
  private static final String TAKEN_UNITS =
      """
      SELECT u.pool, u.unit, u.hold, h.state FROM lockstep.unit u
      JOIN lockstep.hold h ON h.scope = u.scope AND h.hold = u.hold
      WHERE u.scope = ? ORDER BY u.pool, u.unit""";

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
    try (PreparedStatement statement = connection.prepareStatement(PAGE)) {
      String buyer = filter.buyer().map(BuyerId::value).orElse(null);
      Short state = filter.state().map(HoldState::code).orElse(null);
      UUID after = filter.after().map(HoldId::value).orElse(null);
      statement.setLong(1, scope.value());
      statement.setString(2, buyer);
      statement.setString(3, buyer);
      statement.setObject(4, state, Types.SMALLINT);
      statement.setObject(5, state, Types.SMALLINT);
      statement.setObject(6, after, Types.OTHER);
      statement.setLong(7, scope.value());
      statement.setObject(8, after, Types.OTHER);
      statement.setInt(9, limit);
      List<Hold> holds = new ArrayList<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          holds.add(HoldRow.read(scope, row).hold());
        }
      }
      return holds;
    }
  }

  static List<StockChange> audit(
      Connection connection, ScopeId scope, PoolId pool, long afterSeq, int limit)
      throws SQLException {
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
      List<TakenUnit> units = new ArrayList<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          units.add(
              new TakenUnit(
                  new PoolId(row.getLong(1)),
                  row.getInt(2),
                  new HoldId(row.getObject(3, UUID.class)),
                  HoldState.of(row.getInt(4))));
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

  private static StockChange change(PoolId pool, ResultSet row) throws SQLException {
    int total = row.getInt(10);
    return new StockChange(
        pool,
        row.getLong(1),
        new HoldId(row.getObject(2, UUID.class)),
        Cause.of(row.getInt(3)),
        row.getString(4),
        new PoolCounts(pool, total, row.getInt(5), row.getInt(7)),
        new PoolCounts(pool, total, row.getInt(6), row.getInt(8)),
        row.getObject(9, OffsetDateTime.class).toInstant());
  }
}
