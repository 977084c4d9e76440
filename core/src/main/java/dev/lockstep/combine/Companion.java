package dev.lockstep.combine;

import dev.lockstep.sql.Exchange;
import dev.lockstep.work.OpenTransaction;
import java.sql.SQLException;
import java.util.List;

/**
 * Writes the caller's own rows (a payment, an event, an idempotency row) in the transaction that
 * decides the commands: both happen or neither does.
 *
 * <p>Called once per batch with everything attached to it, after the block's own rows were written
 * and before COMMIT; so write in bulk. It may run again when the transaction is retried. It must
 * not commit. The caller gets the result of the attempt that committed.
 *
 * <p>It may write through other blocks: record idempotency keys in bulk, post to accounts, append
 * events, enqueue jobs. Meanwhile the batch holds its own row locks, on stock or on accounts. A
 * companion must lock none of those kinds, nor a kind that comes before them in the lock order
 * ({@link dev.lockstep.sql.LockOrder}), and must lock all rows of any other kind at once, sorted.
 *
 * <p>If it throws or ends the transaction, the batch fails. The batch is then split until only the
 * command whose payload cannot be written fails. A payload that meets another transaction's lock,
 * is slow, or fails with a transient fault every time, even at COMMIT, also fails alone if it is
 * one of a few in the batch: the parts run with short timeouts and share one lock timeout in total.
 *
 * @param <P> what a caller attaches to a command
 * @param <O> the outcomes of the commands
 * @param <R> what the caller is told besides the outcome
 */
@FunctionalInterface
public interface Companion<P, O, R> {
  /**
   * Writes for a batch. {@link OpenTransaction#connection} takes statements of any kind. A
   * constraint that refuses a statement, at once or at COMMIT, fails only the command whose payload
   * the statement carries.
   *
   * @param transaction the batch's; {@link Exchange#of} gives its round trips, and a deferred one
   *     costs nothing extra
   * @return one result per command, in the order given
   * @throws CommandRefused to undo a command and still answer it; the others are unaffected
   */
  List<R> write(OpenTransaction transaction, List<Accompanied<P, O>> commands)
      throws SQLException, CommandRefused;

  /** A command's payload and outcome, refusals included. */
  record Accompanied<P, O>(P payload, O outcome) {}

  /** A companion that only writes. Its result for each command is the command's outcome. */
  static <P, O> Companion<P, O, O> writing(Writing<P, O> writing) {
    return (transaction, commands) -> {
      writing.write(transaction, commands);
      return commands.stream().map(Accompanied::outcome).toList();
    };
  }

  /** What a companion that only {@link #writing writes} does. */
  @FunctionalInterface
  interface Writing<P, O> {
    void write(OpenTransaction transaction, List<Accompanied<P, O>> commands) throws SQLException;
  }
}
