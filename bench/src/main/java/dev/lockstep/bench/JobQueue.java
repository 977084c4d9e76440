package dev.lockstep.bench;

import java.sql.SQLException;

/** A queue of jobs that do nothing: how it is filled, worked on, and counted. */
interface JobQueue {
  /** Writes so many jobs down that are due now, durably, by the fastest way the contender has. */
  void fill(int jobs) throws Exception;

  /**
   * Starts to work.
   *
   * @param job what each job runs
   * @return stops in order: what was begun is finished and written
   */
  AutoCloseable work(Runnable job) throws Exception;

  /** Jobs that its database shows as not done yet. */
  long left() throws SQLException;
}
