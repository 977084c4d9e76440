package dev.lockstep.bench;

import java.sql.SQLException;

/** A queue of jobs that do nothing: how it is filled, worked on, and counted. */
interface JobQueue {
  /** Writes this many due jobs durably, by the contender's fastest way. */
  void fill(int jobs) throws Exception;

  /**
   * Starts to work.
   *
   * @param job what each job runs
   * @return stops in order: started jobs finish and are recorded
   */
  AutoCloseable work(Runnable job) throws Exception;

  /** Jobs that its database shows as not done yet. */
  long left() throws SQLException;
}
