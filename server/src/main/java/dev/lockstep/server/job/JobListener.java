package dev.lockstep.server.job;

import dev.lockstep.job.QueueView;
import java.time.Duration;
import java.util.List;

/** Receives job events. Called by many threads; must not block. */
public interface JobListener {

  /** How a run ended: its handler's outcome, or an exception. */
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
   * A claimer has reported how its job ended.
   *
   * @param accepted false if the claim was lost
   */
  default void onClaimEnd(boolean accepted) {}

  /** Periodic readings of the queues, over all nodes. */
  default void onQueues(List<QueueView> queues) {}
}
