package dev.lockstep.server.job;

import dev.lockstep.job.QueueView;
import java.time.Duration;
import java.util.List;

/** Told what happens to jobs. Called by many threads; must not block. */
public interface JobListener {

  /** How a run ended: what its handler said, or that it threw. */
  enum Ending {
    DONE,
    RETRY,
    SNOOZE,
    CANCEL,
    DEAD
  }

  /** This node is about to serve these queues and kinds. */
  default void onStart(List<String> queues, List<String> kinds) {}

  /** This node has run a job. */
  void onRun(String queue, String kind, Ending ending, Duration took);

  /**
   * A claimer has said how its job ended.
   *
   * @param accepted false: too late, the claim is lost
   */
  default void onClaimEnd(boolean accepted) {}

  /** How the queues are, over all nodes: from time to time. */
  default void onQueues(List<QueueView> queues) {}
}
