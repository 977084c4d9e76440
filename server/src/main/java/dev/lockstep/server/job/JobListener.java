package dev.lockstep.server.job;

import java.time.Duration;

/** Told of every run of a job on this node. Called by many threads; must not block. */
@FunctionalInterface
public interface JobListener {

  /** How a run ended: what its handler said, or that it threw. */
  enum Ending {
    DONE,
    RETRY,
    SNOOZE,
    CANCEL,
    DEAD
  }

  void onRun(String queue, String kind, Ending ending, Duration took);
}
