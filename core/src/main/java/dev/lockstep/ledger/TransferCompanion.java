package dev.lockstep.ledger;

import dev.lockstep.sql.Exchange;
import java.sql.SQLException;
import java.util.List;

/**
 * Writes the caller's own rows (an event, an idempotency row) in the transaction that moves the
 * money: both happen or neither does.
 *
 * <p>Called once per batch with everything attached to it, after the entries were written and
 * before COMMIT; so write in bulk. It may run again when the transaction is retried. It must not
 * commit.
 *
 * <p>It may write through other blocks: record idempotency keys in bulk, append events, enqueue
 * jobs. Meanwhile the batch holds its locks on accounts. A companion must not lock accounts, or
 * rows that come before them in the lock order (holds, pools, units, quotas).
 *
 * <p>If it throws, the batch fails. The batch is then split until only the command whose payload
 * cannot be written fails. The same applies to a payload that meets another transaction's lock, is
 * slow, or fails with a transient fault every time, as long as only a few payloads of a batch do:
 * the parts run with short timeouts and share one lock timeout in total.
 *
 * @param <P> what a caller attaches to a command
 */
@FunctionalInterface
public interface TransferCompanion<P> {
  /**
   * Writes for a batch.
   *
   * @param exchange the batch's transaction. {@link Exchange#connection} takes statements of any
   *     kind; a {@link Exchange#trip} that is put off costs no extra round trip. A constraint that
   *     refuses a statement, at once or at COMMIT, fails only the command whose payload the
   *     statement carries
   */
  void write(Exchange exchange, List<Accompanied<P>> outcomes) throws SQLException;

  /** A command's payload and outcome, refusals included. */
  record Accompanied<P>(P payload, LedgerOutcome outcome) {}
}
