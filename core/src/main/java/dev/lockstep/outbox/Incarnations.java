package dev.lockstep.outbox;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Identifies the server whose transaction ids the outbox stores. The ids have meaning on that
 * server only. A process's memory of them is valid only until that server crashes, because ids that
 * never reached its log are assigned again. Stored positions survive a crash: a snapshot, and all
 * it has seen, is in the log before the commit that stores it.
 *
 * <p>An <i>incarnation</i> of the server is named by a token in an unlogged table, which a crash or
 * a promotion empties. Every transaction that reads or writes positions also reads the token; no
 * transaction outlives an incarnation.
 */
final class Incarnations {
  /** The token; NULL if there is no valid one. */
  static final String CURRENT =
      """
      (SELECT i.token::text FROM lockstep.outbox_incarnation i
       WHERE i.started_at = pg_postmaster_start_time())""";

  /** Requires this token, bound as text. */
  static final String SAME =
      """
      EXISTS (SELECT 1 FROM lockstep.outbox_incarnation i
              WHERE i.token = ?::uuid AND i.started_at = pg_postmaster_start_time())""";

  // Compares every stored transaction id with the next one. For events, one index range per
  // partition and stream; on the ids' own server it is empty, and earlier segments are pruned.
  private static final String CHECK =
      """
      WITH next AS MATERIALIZED (SELECT pg_snapshot_xmax(pg_current_snapshot()) AS xid)
      SELECT %s,
        (SELECT count(*) = 2 AND bool_and(h.mark = h.xmin) FROM lockstep.outbox_home h),
        EXISTS (SELECT 1 FROM lockstep.outbox_cursor c, next
                WHERE pg_snapshot_xmax(c.done) > next.xid
                  OR pg_snapshot_xmax(c.target) > next.xid
                  OR pg_snapshot_xmax(c.replay_to) > next.xid OR c.ord >= next.xid)
        OR EXISTS (SELECT 1 FROM lockstep.outbox_parked p, next WHERE p.ord >= next.xid)
        OR EXISTS (SELECT 1 FROM lockstep.outbox_layout l, lockstep.outbox_stream s,
                     generate_series(0, l.partitions - 1) g(part),
                     LATERAL (SELECT 1 FROM lockstep.outbox_event e
                              WHERE e.part = g.part AND e.stream = s.id
                                AND e.ord >= (SELECT xid FROM next) LIMIT 1) e)"""
          .formatted(CURRENT);

  private static final String BEGIN =
      """
      INSERT INTO lockstep.outbox_incarnation AS i (token, started_at)
      VALUES (gen_random_uuid(), pg_postmaster_start_time())
      ON CONFLICT (only_row) DO UPDATE
      SET token = excluded.token, started_at = excluded.started_at
      WHERE i.started_at <> excluded.started_at""";
  private static final String READ = "SELECT " + CURRENT;

  private final Transactor transactor;

  Incarnations(Transactor transactor) {
    this.transactor = transactor;
  }

  private record Found(@Nullable String incarnation, boolean marked, boolean ahead) {
    boolean isValid() {
      return marked && !ahead;
    }
  }

  /**
   * Ensures that stored transaction ids are valid on this server. After a restore from a dump,
   * converts them first, which takes longer the more events are kept.
   *
   * @return the incarnation of the server
   */
  String establish() {
    Optional<String> established = transactor.call(Incarnations::established);
    if (established.isPresent()) {
      return established.get();
    }
    return transactor.call(
        DumpConversion.options(transactor.defaults()),
        connection -> {
          // Keeps out other processes that do the same.
          Streams.raiseVersion(connection);
          Optional<String> byOthers = established(connection);
          if (byOthers.isPresent()) {
            return byOthers.get();
          }
          new DumpConversion(connection).run();
          return begin(connection);
        });
  }

  /** The incarnation, begun here if needed; empty if the ids belong to another server. */
  private static Optional<String> established(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Found> found =
        trip.query(CHECK, row -> new Found(row.getString(1), row.getBoolean(2), row.getBoolean(3)));
    trip.send();
    Found one = found.list().get(0);
    if (!one.isValid()) {
      return Optional.empty();
    }
    return Optional.of(one.incarnation() == null ? begin(connection) : one.incarnation());
  }

  private static String begin(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(BEGIN);
    Rows<String> token = trip.query(READ, row -> row.getString(1));
    trip.send();
    return token.list().get(0);
  }
}
