package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What a {@link ResultWriter} handles, in the order it was added. */
sealed interface WriterInput
    permits JobResult, WriterInput.HandOver, WriterInput.Mark, WriterInput.Stop {

  /**
   * A shard is being handed over.
   *
   * @param running its running jobs
   * @param marked completes once these are marked
   */
  record HandOver(Lease lease, List<Task> running, CompletableFuture<Void> marked)
      implements WriterInput {}

  /** Jobs that have been running for long. */
  record Mark(Lease lease, List<Task> running) implements WriterInput {}

  /** Ends the writer. */
  record Stop() implements WriterInput {}
}
