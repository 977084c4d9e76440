package dev.lockstep.job;

import java.time.Duration;

/**
 * Observes reads and results, for metrics. Called once per read and per batch of results, on
 * threads that jobs wait for, so it must be quick. Exceptions are logged and change nothing.
 */
public interface JobsListener {
  /** Does nothing. */
  JobsListener NONE = new JobsListener() {};

  /** The part that read due jobs. */
  enum Reader {
    /** A worker, for all its shards and queues at once. */
    WORKER,
    /** {@link Claims#claim}, for one queue. */
    CLAIM
  }

  /**
   * Called after a read of due jobs, failed or not.
   *
   * @param rows how many were found
   * @param took the statements alone, without the wait for a connection
   */
  default void onRead(Reader reader, int rows, Duration took) {}

  /**
   * Called after a worker wrote results.
   *
   * @param accepted how many were written
   * @param stale how many were refused: the job was changed, cancelled or taken over meanwhile
   */
  default void onResults(int accepted, int stale) {}
}
