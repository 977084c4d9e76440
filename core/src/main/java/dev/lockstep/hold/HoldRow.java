package dev.lockstep.hold;

import dev.lockstep.hold.ScopeState.StoredHold;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads a {@link Hold} from a row of the hold table. */
final class HoldRow {
  static final String COLUMNS =
      "hold, buyer, fingerprint, state, created_at, expires_at, ended_at, ended_by,"
          + " pools, quantities, unit_pools, units, extensions";

  private HoldRow() {}

  static StoredHold read(ScopeId scope, ResultSet row) throws SQLException {
    OffsetDateTime endedAt = row.getObject(7, OffsetDateTime.class);
    Optional<Hold.End> end =
        endedAt == null
            ? Optional.empty()
            : Optional.of(new Hold.End(endedAt.toInstant(), row.getString(8)));
    Hold hold =
        new Hold(
            scope,
            new HoldId(row.getObject(1, UUID.class)),
            new BuyerId(row.getString(2)),
            HoldState.of(row.getInt(4)),
            lines(row),
            instant(row, 5),
            instant(row, 6),
            row.getInt(13),
            end);
    return new StoredHold(hold, row.getLong(3));
  }

  private static List<HeldLine> lines(ResultSet row) throws SQLException {
    Long[] pools = (Long[]) row.getArray(9).getArray();
    Integer[] quantities = (Integer[]) row.getArray(10).getArray();
    Map<Long, List<Integer>> units = units(row.getArray(11), row.getArray(12));
    List<HeldLine> lines = new ArrayList<>(pools.length);
    for (int i = 0; i < pools.length; i++) {
      lines.add(
          new HeldLine(
              new PoolId(pools[i]), quantities[i], units.getOrDefault(pools[i], List.of())));
    }
    return lines;
  }

  private static Map<Long, List<Integer>> units(@Nullable Array pools, @Nullable Array units)
      throws SQLException {
    if (pools == null || units == null) {
      return Map.of();
    }
    Long[] poolOf = (Long[]) pools.getArray();
    Integer[] unitAt = (Integer[]) units.getArray();
    Map<Long, List<Integer>> byPool = new HashMap<>();
    for (int i = 0; i < poolOf.length; i++) {
      byPool.computeIfAbsent(poolOf[i], pool -> new ArrayList<>()).add(unitAt[i]);
    }
    return byPool;
  }

  private static Instant instant(ResultSet row, int column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }
}
