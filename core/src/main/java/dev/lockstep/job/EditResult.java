package dev.lockstep.job;

/** What came of changing a job. First match wins, in this order. */
public sealed interface EditResult {

  /** There is no such live job: it never was, is done, or is dead. */
  record Gone() implements EditResult {}

  /** Somebody changed it meanwhile; nothing was done. */
  record Stale(int currentVersion) implements EditResult {}

  /**
   * Done; a worker that has it at this moment will have its result refused. The same version as
   * before says that there was nothing to do.
   */
  record Changed(int version) implements EditResult {}
}
