package dev.lockstep.ledger;

import dev.lockstep.tx.Exchange;
import java.sql.SQLException;
import java.util.List;

/**
 * Writes the caller's own rows (an event, an idempotency row) in the very transaction that moves
 * the money: both happen or neither does.
 *
 * <p>It is called once per batch with everything attached to it, after the entries were written and
 * before COMMIT, so it should write in bulk. It may run again when the transaction is retried. It
 * must not commit.
 *
 * <p>It may write through other blocks: record idempotency keys in bulk, append events, enqueue
 * jobs. The batch holds its locks on accounts meanwhile, so a companion must not lock accounts, or
 * the rows that come before them in the lock order (holds, pools, units, quotas).
 *
 * <p>What it throws fails the batch. The batch is then split, so that in the end only the command
 * whose payload cannot be written fails. So it is with a payload that meets another transaction's
 * lock, is slow, or fails each time in a way that may pass, as long as few payloads of a batch do:
 * the parts are tried briefly, all of them together for one lock timeout.
 *
 * @param <P> what a caller attaches to a command
 */
@FunctionalInterface
public interface TransferCompanion<P> {
  /**
   * Writes for a batch.
   *
   * @param exchange its transaction. {@link Exchange#connection} is for statements of any kind; a
   *     trip of it costs no round trip of its own. A constraint that refuses its statements, at
   *     once or at COMMIT, fails the command whose payload they carry, and no other
   */
  void write(Exchange exchange, List<Accompanied<P>> outcomes) throws SQLException;

  /** A command's payload with what came of the command, refusals included. */
  record Accompanied<P>(P payload, LedgerOutcome outcome) {}
}
