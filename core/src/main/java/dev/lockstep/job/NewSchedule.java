package dev.lockstep.job;

import dev.lockstep.job.Recurrence.CatchUp;
import dev.lockstep.sql.StorableText;

/**
 * A schedule to create.
 *
 * @param name for people
 * @param spec how it recurs, in the language of the reader given to {@link Jobs#schedules}
 * @param job the job of each occurrence; without a time, priority, lane or key of its own
 * @param catchUp what to do about missed occurrences
 */
public record NewSchedule(String name, String spec, NewJob job, CatchUp catchUp) {
  public static final int MAX_SPEC_LENGTH = 2_000;

  public NewSchedule {
    NameRule.require("A name", name);
    if (spec.length() > MAX_SPEC_LENGTH || !StorableText.is(spec)) {
      throw new IllegalArgumentException(
          "A spec is at most %d characters, without NUL and half characters"
              .formatted(MAX_SPEC_LENGTH));
    }
    if (job.runAt().isPresent()
        || job.lane().isPresent()
        || job.unique().isPresent()
        || job.priority() != Priority.NORMAL) {
      throw new IllegalArgumentException(
          "A schedule's job must not have a time, priority, lane or unique key");
    }
  }
}
