package dev.lockstep.outbox;

import org.jspecify.annotations.Nullable;

/**
 * How far a sink is in a partition.
 *
 * @param done what is visible in this snapshot is behind it
 * @param target the snapshot that the step under way goes to; null: none is
 * @param ord with {@code id}, within the step: what comes up to here is behind it, too
 * @param replaySeq more than 0 in a replay: of what is visible in {@code replayTo} only events from
 *     this sequence on are sent
 */
record Position(
    String done, @Nullable String target, String ord, long id, long replaySeq, String replayTo) {
  static final String NOTHING = "1:1:";

  /** Behind it is what is visible in the snapshot, and nothing else. */
  static Position at(String snapshot) {
    return new Position(snapshot, null, "0", 0, 0, NOTHING);
  }

  /** Further within a step. */
  Position within(String target, String ord, long id) {
    return new Position(done, target, ord, id, replaySeq, replayTo);
  }

  /**
   * A replay is one step, also before its first look: until it is over, events that were never
   * delivered may be behind {@code replayTo}, and only their keys' rows know of them.
   */
  boolean isInStep() {
    return target != null || replaySeq > 0;
  }
}
