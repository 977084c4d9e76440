package dev.lockstep.job;

import java.util.UUID;

/** Identifies a schedule. Carries its shard as {@link JobId} does. */
public record ScheduleId(UUID value) {

  /**
   * Parses an id.
   *
   * @throws IllegalArgumentException if the text is not a UUID
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
