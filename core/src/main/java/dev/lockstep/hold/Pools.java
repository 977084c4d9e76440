package dev.lockstep.hold;

import dev.lockstep.hold.StockChange.Cause;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Creates, pauses and reads scopes and pools. */
final class Pools {
  /** Units travel in chunks, so that a pool of a million needs no array of a million. */
  private static final int UNITS_PER_STATEMENT = 50_000;

  private static final String INSERT_SCOPE =
      "INSERT INTO lockstep.scope (scope, buyer_limit) VALUES (?, ?)";

  private static final String INSERT_POOLS =
      """
      INSERT INTO lockstep.pool (scope, pool, has_units, total)
      SELECT s.scope, x.pool, x.has_units, x.total
      FROM lockstep.scope s, unnest(?, ?, ?) AS x (pool, has_units, total)
      WHERE s.scope = ?""";

  // The opening stock is the audit's first row, before any change.
  private static final String INSERT_OPENINGS =
      """
      INSERT INTO lockstep.stock_audit (scope, pool, seq, hold, cause, actor, held_before, held_after,
        sold_before, sold_after, total_before, total_after, at)
      SELECT s.scope, x.pool, 0, ?, ?, 'opening', 0, 0, 0, 0, 0, x.total, now()
      FROM lockstep.scope s, unnest(?, ?) AS x (pool, total)
      WHERE s.scope = ?""";

  // In shuffle order, so that units given out in sequence are stored together.
  private static final String INSERT_UNITS =
      """
      INSERT INTO lockstep.unit (scope, pool, unit, rank)
      SELECT s.scope, ?, x.unit, ? + x.place - 1
      FROM lockstep.scope s, unnest(?) WITH ORDINALITY AS x (unit, place)
      WHERE s.scope = ?""";

  // Waits for the batch that holds the pool's lock; the next batch sees the pause. No other signal
  // is needed.
  private static final String PAUSE =
      "UPDATE lockstep.pool SET paused = true, pause_reason = ? WHERE scope = ? AND pool = ?";
  private static final String RESUME =
      "UPDATE lockstep.pool SET paused = false, pause_reason = NULL WHERE scope = ? AND pool = ?";

  private static final String READ =
      """
      SELECT scope, pool, total, held, sold, has_units, pause_reason FROM lockstep.pool
      WHERE scope = ? ORDER BY pool""";

  private static final String READ_MANY =
      """
      SELECT scope, pool, total, held, sold, has_units, pause_reason FROM lockstep.pool
      WHERE scope = ANY (?) ORDER BY scope, pool""";

  private static final String SET_LIMIT =
      """
      UPDATE lockstep.scope SET buyer_limit = ?
      WHERE scope = ? AND buyer_limit IS NOT NULL""";

  private Pools() {}

  static void createScope(Connection connection, ScopeId scope, OptionalInt buyerLimit)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(INSERT_SCOPE)) {
      statement.setLong(1, scope.value());
      if (buyerLimit.isPresent()) {
        statement.setInt(2, buyerLimit.getAsInt());
      } else {
        statement.setNull(2, Types.INTEGER);
      }
      statement.executeUpdate();
    }
  }

  static void requireLimit(int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("A buyer's limit must be at least 1, not " + limit);
    }
  }

  static boolean setBuyerLimit(Connection connection, ScopeId scope, int limit)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(SET_LIMIT)) {
      statement.setInt(1, limit);
      statement.setLong(2, scope.value());
      return statement.executeUpdate() == 1;
    }
  }

  static void create(Connection connection, ScopeId scope, List<NewPool> pools)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(INSERT_POOLS)) {
      statement.setArray(1, array(connection, "int8", pools, pool -> pool.id().value()));
      statement.setArray(2, array(connection, "bool", pools, pool -> pool.shuffle().isPresent()));
      statement.setArray(3, array(connection, "int4", pools, NewPool::total));
      statement.setLong(4, scope.value());
      if (statement.executeUpdate() != pools.size()) {
        throw new IllegalArgumentException(
            "There is no scope " + scope.value() + "; create it first");
      }
    }
    try (PreparedStatement statement = connection.prepareStatement(INSERT_OPENINGS)) {
      statement.setObject(1, HoldId.NONE.value());
      statement.setInt(2, Cause.OPENED.code());
      statement.setArray(3, array(connection, "int8", pools, pool -> pool.id().value()));
      statement.setArray(4, array(connection, "int4", pools, NewPool::total));
      statement.setLong(5, scope.value());
      statement.executeUpdate();
    }
    for (NewPool pool : pools) {
      if (pool.shuffle().isPresent()) {
        createUnits(connection, scope, pool, pool.shuffle().get());
      }
    }
  }

  private static void createUnits(
      Connection connection, ScopeId scope, NewPool pool, UnitShuffle shuffle) throws SQLException {
    int[] order = shuffle.order(pool.id(), pool.total());
    try (PreparedStatement statement = connection.prepareStatement(INSERT_UNITS)) {
      for (int from = 0; from < order.length; from += UNITS_PER_STATEMENT) {
        int to = Math.min(order.length, from + UNITS_PER_STATEMENT);
        Integer[] chunk = Arrays.stream(order, from, to).boxed().toArray(Integer[]::new);
        statement.setLong(1, pool.id().value());
        statement.setInt(2, from);
        statement.setArray(3, connection.createArrayOf("int4", chunk));
        statement.setLong(4, scope.value());
        statement.executeUpdate();
      }
    }
  }

  static boolean pause(Connection connection, ScopeId scope, PoolId pool, String reason)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(PAUSE)) {
      statement.setString(1, reason);
      statement.setLong(2, scope.value());
      statement.setLong(3, pool.value());
      return statement.executeUpdate() == 1;
    }
  }

  static boolean resume(Connection connection, ScopeId scope, PoolId pool) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(RESUME)) {
      statement.setLong(1, scope.value());
      statement.setLong(2, pool.value());
      return statement.executeUpdate() == 1;
    }
  }

  static List<Pool> read(Connection connection, ScopeId scope) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(READ)) {
      statement.setLong(1, scope.value());
      return read(statement);
    }
  }

  /** By scope; one without pools is not there. */
  static Map<ScopeId, List<Pool>> read(Connection connection, Collection<ScopeId> scopes)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(READ_MANY)) {
      Object[] values = scopes.stream().map(ScopeId::value).toArray();
      statement.setArray(1, connection.createArrayOf("bigint", values));
      return read(statement).stream().collect(Collectors.groupingBy(Pool::scope));
    }
  }

  private static List<Pool> read(PreparedStatement statement) throws SQLException {
    List<Pool> pools = new ArrayList<>();
    try (ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        PoolCounts counts =
            new PoolCounts(
                new PoolId(row.getLong("pool")),
                row.getInt("total"),
                row.getInt("held"),
                row.getInt("sold"));
        pools.add(
            new Pool(
                new ScopeId(row.getLong("scope")),
                counts,
                row.getBoolean("has_units"),
                Optional.ofNullable(row.getString("pause_reason"))));
      }
    }
    return pools;
  }

  private static Array array(
      Connection connection, String type, List<NewPool> pools, Function<NewPool, Object> column)
      throws SQLException {
    return connection.createArrayOf(type, pools.stream().map(column).toArray());
  }
}
