package dev.lockstep.job;

import dev.lockstep.job.Recurrence.CatchUp;
import dev.lockstep.tx.StorableText;

/**
 * A schedule to make.
 *
 * @param name for people
 * @param spec how it recurs, in the words of the reader given to {@link Jobs#schedules}
 * @param job what each occurrence becomes; without a time, lane or key of its own
 * @param catchUp what is done about occurrences that were missed
 */
public record NewSchedule(String name, String spec, NewJob job, CatchUp catchUp) {
  public static final int MAX_SPEC_LENGTH = 2_000;

  public NewSchedule {
    Names.require("A name", name);
    if (spec.length() > MAX_SPEC_LENGTH || !StorableText.is(spec)) {
      throw new IllegalArgumentException(
          "A spec has up to %d characters, without NUL and half characters"
              .formatted(MAX_SPEC_LENGTH));
    }
    if (job.runAt().isPresent()
        || job.lane().isPresent()
        || job.unique().isPresent()
        || job.priority() != Priority.NORMAL) {
      throw new IllegalArgumentException(
          "The job of a schedule has no time, priority, lane or key of its own");
    }
  }
}
