package dev.lockstep.job;

import java.util.UUID;

/** Names a schedule; says in which shard it is as {@link JobId} does. */
public record ScheduleId(UUID value) {

  /**
   * From its text.
   *
   * @throws IllegalArgumentException if it is no UUID
   */
  public static ScheduleId of(String text) {
    return new ScheduleId(UUID.fromString(text));
  }

  int shard() {
    return new JobId(value).shard();
  }

  @Override
  public String toString() {
    return value.toString();
  }
}
