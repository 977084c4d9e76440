package dev.lockstep.bench;

import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.SqlArray;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The ceiling: the rows a batch of granted holds leaves behind (hold, audit, quota, pool), sent and
 * written in bulk by one writer that asks nothing and decides nothing.
 */
final class BulkRows {
  static final int BATCH = 500;

  private static final String HOLDS =
      """
      INSERT INTO lockstep.hold (scope, hold, buyer, fingerprint, state, created_at, expires_at,
        pools, quantities)
      SELECT ?, x.hold, x.buyer, 0, 0, now(), now() + interval '15 minutes', '{1}', '{1}'
      FROM unnest(?, ?) AS x (hold, buyer)""";
  private static final String QUOTAS =
      """
      INSERT INTO lockstep.quota AS q (scope, buyer, used)
      SELECT ?, x.buyer, x.used FROM unnest(?, ?) AS x (buyer, used)
      ON CONFLICT (scope, buyer) DO UPDATE SET used = q.used + excluded.used""";
  private static final String AUDIT =
      """
      INSERT INTO lockstep.stock_audit (scope, pool, seq, hold, cause, actor, held_before, held_after,
        sold_before, sold_after, at)
      SELECT ?, 1, x.seq, x.hold, 0, x.buyer, x.seq - 1, x.seq, 0, 0, now()
      FROM unnest(?, ?, ?) AS x (seq, hold, buyer)""";
  private static final String POOL =
      """
      UPDATE lockstep.pool SET held = held + ?, audit_seq = audit_seq + ?
      WHERE scope = ? AND pool = 1""";

  private final Transactor transactor;
  private final long scope;
  private long written;

  BulkRows(Transactor transactor, long scope) {
    this.transactor = transactor;
    this.scope = scope;
  }

  void writeBatch() {
    transactor.run(this::write);
    written += BATCH;
  }

  private void write(Connection connection) throws SQLException {
    List<UUID> holds = new ArrayList<>(BATCH);
    List<String> buyers = new ArrayList<>(BATCH);
    List<Long> seqs = new ArrayList<>(BATCH);
    Map<String, Integer> used = new TreeMap<>();
    for (int i = 1; i <= BATCH; i++) {
      holds.add(UUID.randomUUID());
      buyers.add(Names.buyer(written + i));
      seqs.add(written + i);
      used.merge(Names.buyer(written + i), 1, Integer::sum);
    }
    SqlArray holdIds = SqlArray.uuids(holds);
    SqlArray buyerNames = SqlArray.texts(buyers);
    RoundTrip trip = new RoundTrip(connection);
    trip.update(QUOTAS, scope, SqlArray.texts(used.keySet()), SqlArray.integers(used.values()));
    trip.update(HOLDS, scope, holdIds, buyerNames);
    trip.update(AUDIT, scope, SqlArray.bigints(seqs), holdIds, buyerNames);
    trip.update(POOL, BATCH, BATCH, scope);
    trip.send();
  }
}
