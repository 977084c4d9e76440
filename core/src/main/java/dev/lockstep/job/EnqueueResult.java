package dev.lockstep.job;

/** The result of enqueueing a job. */
public sealed interface EnqueueResult {

  /** Written; visible once the caller commits. */
  record Created(JobId id) implements EnqueueResult {}

  /** Another job holds its unique key; nothing was written. */
  record Duplicate(JobId existing) implements EnqueueResult {}
}
