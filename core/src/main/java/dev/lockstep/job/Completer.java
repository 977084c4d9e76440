package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import dev.lockstep.tx.TxAction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Completes jobs: passes each result to the writer of its shard. Two writers share the shards, so
 * that one sends while the other waits for its COMMIT to reach the disk. Each shard has one writer,
 * which handles its results in order. The result of a job with effects is written by the handler's
 * thread instead, in its own transaction.
 */
final class Completer {
  private static final int WRITERS = 2;
  // Jobs on one page often belong to neighbouring shards; one writer takes them together.
  private static final int NEIGHBOURS = 4;

  private final ResultTransactions transactions;
  private final List<ResultWriter> writers = new ArrayList<>();

  /**
   * @param died called when a writer ends unexpectedly
   */
  Completer(ResultTransactions transactions, int batch, Runnable died) {
    this.transactions = transactions;
    for (int i = 0; i < WRITERS; i++) {
      writers.add(new ResultWriter(transactions, i, batch, died));
    }
  }

  void start() {
    writers.forEach(ResultWriter::start);
  }

  private ResultWriter writerOf(Lease lease) {
    return writers.get(lease.shard() / NEIGHBOURS % WRITERS);
  }

  void add(JobResult result) {
    writerOf(result.task().lease).add(result);
  }

  /**
   * Writes effects and result now, on this thread.
   *
   * @return false if the effects are rolled back; the job is read again
   */
  boolean completeWith(Task task, TxAction effects) {
    boolean completed = transactions.completeWith(task, effects);
    if (!completed) {
      add(JobResult.givenBack(task));
    }
    return completed;
  }

  /** Lets a handler complete its job in a transaction of its own. */
  JoinedCompletion joinedCompletion(Task task) {
    return transactions.joinedCompletion(task);
  }

  /** Ends a job that its handler has completed, or tried to complete, in its own transaction. */
  void settle(Task task, JoinedCompletion completion, Outcome outcome) {
    completion.left(outcome).ifPresentOrElse(this::add, () -> transactions.completedOutside(task));
  }

  /** Marks a job as running here before it begins. Returns false if this node may not run it. */
  boolean mark(Task task) {
    return transactions.mark(task);
  }

  /** Queues long-running jobs to be marked as running. */
  void markLater(Lease lease, List<Task> running) {
    writerOf(lease).add(new WriterInput.Mark(lease, running));
  }

  /** Completes when earlier results are written or deferred and the running jobs are marked. */
  CompletableFuture<Void> handOver(Lease lease, List<Task> running) {
    CompletableFuture<Void> marked = new CompletableFuture<>();
    writerOf(lease).add(new WriterInput.HandOver(lease, running, marked));
    return marked;
  }

  /** The writers' current problems. */
  List<String> troubles() {
    return writers.stream().flatMap(writer -> writer.trouble().stream()).toList();
  }

  /** Writes what is queued, then stops, within the timeout. */
  void close(Duration timeout) {
    writers.forEach(ResultWriter::stop);
    long end = System.nanoTime() + timeout.toNanos();
    writers.forEach(writer -> writer.join(end));
  }
}
