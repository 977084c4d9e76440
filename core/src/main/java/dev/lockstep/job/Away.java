package dev.lockstep.job;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A job that runs, and not under the present lease of its shard, as the database says: its row is
 * marked, it is recorded in {@code job_away}, or it is claimed.
 *
 * @param member the node that runs it; of a claim its token
 */
record Away(JobId id, String queue, Priority priority, @Nullable String lane, UUID member) {
  /** Of a row that is marked. */
  static Away of(JobRow row, UUID keeper) {
    return new Away(row.id(), row.queue(), row.priority(), row.lane(), keeper);
  }
}
