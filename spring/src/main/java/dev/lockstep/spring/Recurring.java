package dev.lockstep.spring;

import dev.lockstep.job.Recurrence;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method of a bean that runs at certain times, each time on one node. It takes nothing or a
 * {@link dev.lockstep.job.JobContext}, and runs in a transaction like a {@link JobHandler}.
 *
 * <p>The schedule is made at the first start, and changed when the annotation has changed. A
 * schedule whose method was removed stays; delete it with {@code Schedules.delete}.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Recurring {
  /** Names the schedule and the kind of its jobs; unique in the database. */
  String name();

  /** Five fields: minute, hour, day of month, month, day of week. */
  String cron();

  /** The zone of the local times, such as {@code Europe/Berlin}. */
  String zone() default "UTC";

  /** What happens at a local time that clocks skip. */
  Recurrence.Gap gap() default Recurrence.Gap.NEXT;

  /** What happens at a local time that occurs twice. */
  Recurrence.Overlap overlap() default Recurrence.Overlap.FIRST;

  /** What happens to times that were missed while no node ran. */
  Recurrence.CatchUp catchUp() default Recurrence.CatchUp.LATEST;

  /** The queue of its jobs. */
  String queue() default "default";
}
