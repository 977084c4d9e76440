package dev.lockstep.bench;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The ceiling: the rows that a batch of granted holds leaves behind (hold, audit, quota, pool),
 * written in bulk by one writer that checks and decides nothing.
 */
final class BulkRows {
  static final int BATCH = 500;

  private static final String HOLDS =
      """
      INSERT INTO lockstep.hold (scope, hold, buyer, fingerprint, state, created_at, expires_at,
        pools, quantities)
      SELECT ?, x.hold, x.buyer, 0, 0, now(), now() + interval '15 minutes', ARRAY[x.pool], '{1}'
      FROM unnest(?, ?, ?) AS x (hold, buyer, pool)""";
  private static final String QUOTAS =
      """
      INSERT INTO lockstep.quota AS q (scope, buyer, used)
      SELECT ?, x.buyer, x.used FROM unnest(?, ?) AS x (buyer, used)
      ON CONFLICT (scope, buyer) DO UPDATE SET used = q.used + excluded.used""";
  private static final String AUDIT =
      """
      INSERT INTO lockstep.stock_audit (scope, pool, seq, hold, cause, actor, held_before, held_after,
        sold_before, sold_after, at)
      SELECT ?, x.pool, x.seq, x.hold, 0, x.buyer, x.seq - 1, x.seq, 0, 0, now()
      FROM unnest(?, ?, ?, ?) AS x (pool, seq, hold, buyer)""";
  private static final String POOLS =
      """
      UPDATE lockstep.pool p SET held = held + x.n, audit_seq = audit_seq + x.n
      FROM unnest(?, ?) AS x (pool, n) WHERE p.scope = ? AND p.pool = x.pool""";

  private final Transactor transactor;
  private final long scope;
  private final int pools;
  private long written;

  /** Pools are numbered from 1 and take turns. */
  BulkRows(Transactor transactor, long scope, int pools) {
    this.transactor = transactor;
    this.scope = scope;
    this.pools = pools;
  }

  void writeBatch() {
    transactor.run(this::write);
    written += BATCH;
  }

  private void write(Connection connection) throws SQLException {
    List<UUID> holds = new ArrayList<>(BATCH);
    List<String> buyers = new ArrayList<>(BATCH);
    List<Long> poolOf = new ArrayList<>(BATCH);
    List<Long> seqs = new ArrayList<>(BATCH);
    Map<String, Integer> used = new TreeMap<>();
    Map<Long, Integer> taken = new TreeMap<>();
    for (long n = written; n < written + BATCH; n++) {
      long pool = 1 + n % pools;
      holds.add(UUID.randomUUID());
      buyers.add(Names.buyer(n));
      poolOf.add(pool);
      seqs.add(1 + n / pools);
      used.merge(Names.buyer(n), 1, Integer::sum);
      taken.merge(pool, 1, Integer::sum);
    }
    SqlArray holdIds = SqlArray.uuids(holds);
    SqlArray buyerNames = SqlArray.texts(buyers);
    SqlArray poolIds = SqlArray.bigints(poolOf);
    RoundTrip trip = new RoundTrip(connection);
    trip.update(QUOTAS, scope, SqlArray.texts(used.keySet()), SqlArray.integers(used.values()));
    trip.update(HOLDS, scope, holdIds, buyerNames, poolIds);
    trip.update(AUDIT, scope, poolIds, SqlArray.bigints(seqs), holdIds, buyerNames);
    trip.update(POOLS, SqlArray.bigints(taken.keySet()), SqlArray.integers(taken.values()), scope);
    trip.send();
  }
}
