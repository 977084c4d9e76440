package dev.lockstep.job;

import java.sql.Connection;
import java.time.Instant;

/**
 * The job that a handler runs, and its lease.
 *
 * @param id the same at every attempt
 * @param payload JSON as enqueued; white space may differ
 * @param due when it was to run, at every attempt; for a schedule, the time of the occurrence
 * @param attempt 1 for the first since it was enqueued or replayed; an attempt cut off by a crash
 *     may count
 */
public record JobContext(
    JobId id, String queue, String kind, String payload, Instant due, int attempt, JobLease lease) {

  /**
   * Returns false once this node has, or may have, lost the right to complete the job; another node
   * will run it. Check it before an external effect that cannot be undone. Effects in this database
   * do not need the check: use {@link Outcome.Done#writing} or {@link #complete}.
   */
  public boolean holdsLease() {
    return lease.holds();
  }

  /**
   * Completes the job in the caller's transaction, for handlers that write through a framework: the
   * job ends if and only if that transaction commits. The caller commits and then returns {@link
   * Outcome#done}. If it rolls back, throw an exception or return {@link Outcome.Retry}; a handler
   * that returns done all the same has failed.
   *
   * <p>Make it the transaction's last write. It locks the job and fences the worker until the end
   * of the transaction, which the server ends if nothing follows within {@code
   * TxOptions.idleTimeout}. Do not cancel or edit the job in the same transaction.
   *
   * @throws StaleJob if the job was changed or its lease was lost; roll back
   * @throws dev.lockstep.fault.LockTimeout if another transaction has locked the job; roll back and
   *     throw it. The job runs again after that, and no attempt is counted
   * @throws IllegalStateException if the connection is in auto-commit mode
   */
  public void complete(Connection connection) {
    lease.complete(connection);
  }
}
