package dev.lockstep.job;

/** The result of changing a job. The first that applies is returned, in this order. */
public sealed interface EditResult {

  /**
   * No such live job: it never existed, is done, or is dead. For a dead letter: no such dead
   * letter.
   */
  record Gone() implements EditResult {}

  /**
   * The job is a schedule's tick, which only the schedule may change; nothing was done. Use {@link
   * Schedules#change} or {@link Schedules#delete}.
   */
  record OfSchedule(ScheduleId schedule) implements EditResult {}

  /** The job has another version than the caller expected; nothing was done. */
  record Stale(int currentVersion) implements EditResult {}

  /**
   * Edited. If a worker is running the job, its result will be refused. An unchanged version means
   * that there was nothing to do.
   */
  record Edited(int version) implements EditResult {}
}
