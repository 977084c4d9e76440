package dev.lockstep.job;

import java.time.Duration;

/**
 * Hears of reads and results of jobs. Called on threads that others wait for, once for each read
 * and each batch of results, so it must be quick; what it throws is logged and changes nothing.
 */
public interface JobsListener {
  /** Hears nothing. */
  JobsListener NONE = new JobsListener() {};

  /** Who asked for due jobs. */
  enum Reader {
    /** A worker, for all its shards and queues at once. */
    WORKER,
    /** {@link Claims#claim}, for one queue. */
    CLAIM
  }

  /**
   * Due jobs were read, or the read failed.
   *
   * @param rows how many were found
   * @param took the statements alone, without the wait for a connection
   */
  default void onRead(Reader reader, int rows, Duration took) {}

  /**
   * A worker has reported how jobs ended.
   *
   * @param accepted those that are written
   * @param stale those that are not: the job was changed, cancelled or taken over meanwhile
   */
  default void onResults(int accepted, int stale) {}
}
