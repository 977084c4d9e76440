package dev.lockstep.outbox;

import dev.lockstep.sql.SqlArray;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A sink's position in a partition.
 *
 * @param done events visible in this snapshot are done
 * @param target the snapshot that the current step goes to; null: no step is under way
 * @param ord with {@code id}: within the step, events up to here are done too
 * @param replaySeq above 0 in a replay: of the events visible in {@code replayTo}, only those from
 *     this sequence on are sent
 */
record CursorPosition(
    String done, @Nullable String target, String ord, long id, long replaySeq, String replayTo) {
  static final String NOTHING = "1:1:";

  /** A condition: event {@code e} is done for the sink of the stored cursor {@code c}. */
  static final String PASSED =
      """
      (pg_visible_in_snapshot(e.xid, c.done)
       OR (c.target IS NOT NULL AND pg_visible_in_snapshot(e.xid, c.target)
           AND (e.ord, e.id) <= (c.ord, c.id))
       OR (e.seq < c.replay_seq AND pg_visible_in_snapshot(e.xid, c.replay_to)))""";

  /**
   * The lowest {@code ord} of an event that is not visible in {@code c.done} but is in this
   * snapshot. A transaction that ended between the two either began after {@code done}, and then
   * all its events have {@code ord >=} that snapshot's xmax; or was running in it, and then {@code
   * ord} is not below the lowest such id. So the range grows only in the one read after a long
   * transaction has ended; a transaction that is still open costs nothing.
   */
  static String start(String snapshot) {
    return """
        COALESCE((SELECT x FROM pg_snapshot_xip(c.done) x
                  WHERE pg_visible_in_snapshot(x, %s)
                  ORDER BY x LIMIT 1), pg_snapshot_xmax(c.done))"""
        .formatted(snapshot);
  }

  /** Positions as arrays: done, target, ord, id, replaySeq, replayTo. */
  static Object[] arrays(List<CursorPosition> all) {
    return new Object[] {
      snapshots(all, CursorPosition::done),
      snapshots(all, CursorPosition::target),
      new SqlArray("xid8", all.stream().map(CursorPosition::ord).toArray(String[]::new)),
      SqlArray.bigints(all.stream().map(CursorPosition::id).toList()),
      SqlArray.bigints(all.stream().map(CursorPosition::replaySeq).toList()),
      snapshots(all, CursorPosition::replayTo)
    };
  }

  private static SqlArray snapshots(
      List<CursorPosition> all, Function<CursorPosition, @Nullable String> snapshot) {
    return new SqlArray("pg_snapshot", all.stream().map(snapshot).toArray(String[]::new));
  }

  /** The position after everything visible in the snapshot. */
  static CursorPosition at(String snapshot) {
    return new CursorPosition(snapshot, null, "0", 0, 0, NOTHING);
  }

  /** Further within a step. */
  CursorPosition within(String target, String ord, long id) {
    return new CursorPosition(done, target, ord, id, replaySeq, replayTo);
  }

  /**
   * A replay is one step, even before its first read: until it ends, events that were never
   * delivered may be behind {@code replayTo}, known only by their keys' rows.
   */
  boolean isInStep() {
    return target != null || replaySeq > 0;
  }
}
