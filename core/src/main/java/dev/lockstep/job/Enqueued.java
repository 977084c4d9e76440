package dev.lockstep.job;

/** The result of enqueueing a job. */
public sealed interface Enqueued {

  /** Written; visible once the caller commits. */
  record Accepted(JobId id) implements Enqueued {}

  /** Another job holds its unique key; nothing was written. */
  record Duplicate(JobId existing) implements Enqueued {}
}
