package dev.lockstep.outbox;

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
