package dev.lockstep.job;

/** What came of enqueueing a job. */
public sealed interface Enqueued {

  /** It is there once the caller commits. */
  record Accepted(JobId id) implements Enqueued {}

  /** Another job has its unique key; nothing was written. */
  record Duplicate(JobId existing) implements Enqueued {}
}
