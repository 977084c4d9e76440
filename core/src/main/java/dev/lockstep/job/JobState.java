package dev.lockstep.job;

/** The states of a job. Diagram: docs/concepts.md. */
public enum JobState {
  /** Not due yet. */
  SCHEDULED,
  /** Due. It may be running: workers mark only long-running and suspect jobs. */
  READY,
  /** Marked as running by its node, or claimed. */
  RUNNING,
  DEAD,
  /** Visible only while history is kept. */
  DONE
}
