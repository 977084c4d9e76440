package dev.lockstep.outbox;

import dev.lockstep.outbox.OutboxAudit.Action;
import dev.lockstep.outbox.SinkActionResult.Changed;
import dev.lockstep.outbox.SinkActionResult.EventsDropped;
import dev.lockstep.outbox.SinkActionResult.NotParked;
import dev.lockstep.outbox.SinkActionResult.OtherSeq;
import dev.lockstep.outbox.SinkActionResult.UnknownKey;
import dev.lockstep.outbox.SinkActionResult.UnknownSink;
import dev.lockstep.outbox.Streams.SinkRow;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * Performs operators' actions: retry, skip and replay. An action raises the layout's version, so
 * that owners check, and the order count of its sink and partition, so that the owner reloads only
 * that cursor. It is recorded in the audit, in the caller's transaction. An action that changes
 * nothing raises nothing, unless a race made it futile. Locks: the layout, then cursors by
 * partition, then keys; an owner locks the latter two in the same order. Events are freed under the
 * layout's lock, too, so a replay that is answered {@link Changed} has its events.
 */
final class OperatorActions {
  private static final String FIND_PARKED =
      "SELECT seq FROM lockstep.outbox_parked WHERE part = ? AND sink = ? AND key = ?";
  private static final String LOCK_PARKED = FIND_PARKED + " FOR UPDATE";
  private static final String RELEASE =
      """
      UPDATE lockstep.outbox_parked
      SET seq = ?, attempts = 0, retry_at = now(), version = version + 1
      WHERE part = ? AND sink = ? AND key = ?""";

  // The first kept event from this sequence on.
  private static final String FIND_EVENT =
      """
      SELECT seq, ord::text FROM lockstep.outbox_event
      WHERE part = ? AND stream = ? AND key = ? AND seq >= ? ORDER BY seq LIMIT 1""";

  // A cursor steps over every event of a key that has a row here. So a new row must begin at the
  // first event that the stored cursor has not passed, if that is earlier; the owner may be ahead
  // of it, never behind. An existing row already begins early enough.
  private static final String REPLAY_KEY =
      """
      INSERT INTO lockstep.outbox_parked AS o
        (part, sink, key, seq, ord, attempts, error, retry_at, parked_at)
      SELECT f.part, f.sink, f.key, COALESCE(a.seq, f.seq), COALESCE(a.ord, f.ord), 0, '', now(),
        now()
      FROM (VALUES (?::smallint, ?::integer, ?::text, ?::bigint, ?::xid8))
          f(part, sink, key, seq, ord)
        LEFT JOIN LATERAL (
          SELECT e.seq, e.ord FROM lockstep.outbox_cursor c, lockstep.outbox_event e
          WHERE c.part = f.part AND c.sink = f.sink
            AND e.part = f.part AND e.stream = ? AND e.key = f.key AND e.seq < f.seq
            AND e.ord >= pg_snapshot_xmin(c.done) AND NOT %s
          ORDER BY e.seq LIMIT 1) a ON true
      ON CONFLICT (part, sink, key) DO UPDATE SET seq = LEAST(o.seq, ?),
        ord = LEAST(o.ord, ?::xid8), attempts = 0, retry_at = now(), version = o.version + 1"""
          .formatted(CursorPosition.PASSED);

  // Restarts at the oldest kept event. Events not delivered yet are delivered whatever their
  // sequence, or the key would have a gap. If two replays overlap, the lower sequence counts.
  private static final String REPLAY_ALL =
      """
      UPDATE lockstep.outbox_cursor c
      SET replay_to = CASE WHEN c.replay_seq > 0 THEN c.replay_to ELSE c.done END,
        replay_seq = LEAST(NULLIF(c.replay_seq, 0), ?), done = '1:1:', target = NULL, ord = '0', id = 0, version = version + 1
      FROM (SELECT part FROM lockstep.outbox_cursor WHERE sink = ? ORDER BY part FOR UPDATE) x
      WHERE c.sink = ? AND c.part = x.part""";
  // Blocked keys stay blocked and are later sent from this sequence on.
  private static final String REPLAY_PARKED =
      """
      UPDATE lockstep.outbox_parked
      SET seq = LEAST(seq, ?), ord = '0', version = version + 1 WHERE sink = ?""";

  private final Connection connection;
  private final int partitions;

  OperatorActions(Connection connection, int partitions) {
    this.connection = connection;
    this.partitions = partitions;
  }

  private record Found(long seq, String ord) {}

  SinkActionResult retry(String stream, String sink, String key, Action action)
      throws SQLException {
    return release(stream, sink, key, Optional.empty(), action);
  }

  SinkActionResult skip(String stream, String sink, String key, long seq, Action action)
      throws SQLException {
    return release(stream, sink, key, Optional.of(seq), action);
  }

  /**
   * @param skip the event to skip
   */
  private SinkActionResult release(
      String stream, String sink, String key, Optional<Long> skip, Action action)
      throws SQLException {
    Optional<SinkRow> row = Streams.sinkOf(connection, stream, sink);
    if (row.isEmpty()) {
      return new UnknownSink();
    }
    short part = Partitioning.partOf(stream, key, partitions);
    // Check without a lock first: an action that changes nothing disturbs no relay.
    Optional<SinkActionResult> refused = refused(parked(FIND_PARKED, part, row.get(), key), skip);
    if (refused.isPresent()) {
      return refused.get();
    }
    Streams.raiseVersion(connection);
    Optional<Long> parked = parked(LOCK_PARKED, part, row.get(), key);
    refused = refused(parked, skip);
    if (refused.isPresent()) {
      return refused.get();
    }
    long seq = parked.orElseThrow();
    RoundTrip write = new RoundTrip(connection);
    write.update(RELEASE, skip.isPresent() ? seq + 1 : seq, part, row.get().id(), key);
    Streams.order(write, part, row.get().id());
    OutboxAudit.writeKey(write, action, stream, sink, Optional.of(key), seq);
    write.send();
    return new Changed();
  }

  private Optional<Long> parked(String sql, short part, SinkRow sink, String key)
      throws SQLException {
    RoundTrip read = new RoundTrip(connection);
    Rows<Long> parked = read.query(sql, r -> r.getLong(1), part, sink.id(), key);
    read.send();
    return parked.list().stream().findFirst();
  }

  private static Optional<SinkActionResult> refused(Optional<Long> parked, Optional<Long> skip) {
    if (parked.isEmpty()) {
      return Optional.of(new NotParked());
    }
    return skip.isPresent() && !skip.equals(parked)
        ? Optional.of(new OtherSeq(parked.get()))
        : Optional.empty();
  }

  SinkActionResult replayKey(String stream, String sink, String key, long fromSeq, Action action)
      throws SQLException {
    Optional<SinkRow> row = Streams.sinkOf(connection, stream, sink);
    if (row.isEmpty()) {
      return new UnknownSink();
    }
    short part = Partitioning.partOf(stream, key, partitions);
    // Before the events are read: what is found is kept until this transaction ends.
    Streams.lockLayout(connection);
    RoundTrip read = new RoundTrip(connection);
    Rows<Found> event =
        read.query(
            FIND_EVENT,
            r -> new Found(r.getLong(1), r.getString(2)),
            part,
            row.get().streamId(),
            key,
            fromSeq);
    read.send();
    List<Found> found = event.list();
    if (found.isEmpty()) {
      return new UnknownKey();
    }
    if (found.get(0).seq() != fromSeq) {
      return new EventsDropped(found.get(0).seq());
    }
    Streams.raiseVersion(connection);
    RoundTrip write = new RoundTrip(connection);
    int streamId = row.get().streamId();
    String ord = found.get(0).ord();
    write.update(REPLAY_KEY, part, row.get().id(), key, fromSeq, ord, streamId, fromSeq, ord);
    Streams.order(write, part, row.get().id());
    OutboxAudit.writeKey(write, action, stream, sink, Optional.of(key), fromSeq);
    write.send();
    return new Changed();
  }

  SinkActionResult replayAll(String stream, String sink, long fromSeq, Action action)
      throws SQLException {
    Optional<SinkRow> row = Streams.sinkOf(connection, stream, sink);
    if (row.isEmpty()) {
      return new UnknownSink();
    }
    Streams.raiseVersion(connection);
    RoundTrip write = new RoundTrip(connection);
    write.update(REPLAY_ALL, fromSeq, row.get().id(), row.get().id());
    write.update(REPLAY_PARKED, fromSeq, row.get().id());
    Streams.orderAll(write, row.get().id());
    OutboxAudit.writeKey(write, action, stream, sink, Optional.empty(), fromSeq);
    write.send();
    return new Changed();
  }
}
