package dev.lockstep.outbox;

import dev.lockstep.sql.RoundTrip;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Records operators' actions, in the transaction that performs them. Rows are never changed. */
final class OutboxAudit {
  private static final String WRITE =
      """
      INSERT INTO lockstep.outbox_audit (actor, action, stream, sink, reason)
      VALUES (?, ?, ?, ?, ?)""";
  private static final String WRITE_KEY =
      """
      INSERT INTO lockstep.outbox_audit (actor, action, stream, sink, key, seq, reason)
      VALUES (?, ?, ?, ?, NULLIF(?, ''), ?, ?)""";
  private static final String READ =
      """
      SELECT id, at, actor, action, stream, sink, key, seq, reason FROM lockstep.outbox_audit
      WHERE stream = ? AND id < ? ORDER BY id DESC LIMIT ?""";

  private OutboxAudit() {}

  static void write(
      Connection connection, String actor, String action, String stream, String sink, String reason)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(WRITE, actor, action, stream, sink, reason);
    trip.send();
  }

  static void writeKey(
      RoundTrip trip, Action action, String stream, String sink, Optional<String> key, long seq) {
    trip.update(
        WRITE_KEY,
        action.actor(),
        action.what(),
        stream,
        sink,
        key.orElse(""),
        seq,
        action.reason());
  }

  /** An operator's action: actor, action and reason. */
  record Action(String actor, String what, String reason) {
    Action {
      TextLimits.requireLine("An actor", actor, TextLimits.MAX_NAME_LENGTH);
      TextLimits.require("A reason", reason, TextLimits.MAX_REASON_LENGTH);
    }
  }

  static List<AuditEntry> read(Connection connection, String stream, OptionalLong before, int limit)
      throws SQLException {
    return RoundTrip.list(
        connection, READ, OutboxAudit::entry, stream, before.orElse(Long.MAX_VALUE), limit);
  }

  private static AuditEntry entry(ResultSet row) throws SQLException {
    long seq = row.getLong("seq");
    OptionalLong maybeSeq = row.wasNull() ? OptionalLong.empty() : OptionalLong.of(seq);
    return new AuditEntry(
        row.getLong("id"),
        row.getObject("at", OffsetDateTime.class).toInstant(),
        row.getString("actor"),
        row.getString("action"),
        row.getString("stream"),
        Optional.ofNullable(row.getString("sink")),
        Optional.ofNullable(row.getString("key")),
        maybeSeq,
        row.getString("reason"));
  }
}
