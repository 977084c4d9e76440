package dev.lockstep.job;

/** What came of changing a job. First match wins, in this order. */
public sealed interface EditResult {

  /** There is no such live job: it never was, is done, or is dead. For a dead letter: no such. */
  record Gone() implements EditResult {}

  /**
   * It is the tick of a schedule, which is not changed behind the schedule's back; nothing was
   * done. Change or delete the schedule: {@link Schedules#change}, {@link Schedules#delete}.
   */
  record OfSchedule(ScheduleId schedule) implements EditResult {}

  /** Somebody changed it meanwhile; nothing was done. */
  record Stale(int currentVersion) implements EditResult {}

  /**
   * Done; a worker that has it at this moment will have its result refused. The same version as
   * before says that there was nothing to do.
   */
  record Changed(int version) implements EditResult {}
}
