package dev.lockstep.job;

import dev.lockstep.fault.PermanentFault;

/**
 * The handler may no longer complete its job: the job was changed, cancelled or taken over. Roll
 * the transaction back.
 */
public final class StaleJob extends PermanentFault {
  private static final long serialVersionUID = 1L;

  StaleJob(JobId id) {
    super(
        "Job "
            + id
            + " cannot be completed here: it was changed, or its lease was lost. Roll back; if it is"
            + " still due, it runs again",
        null);
  }
}
