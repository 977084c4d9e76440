package dev.lockstep.hold;

import dev.lockstep.tx.Exchange;
import java.sql.SQLException;
import java.util.Set;

/**
 * A companion that can also refuse the commands it goes with: a hold that must stay as it is, by
 * what the caller's own tables say, answers {@link HoldOutcome.Vetoed}. The refusal is a value of
 * the batch like any other, so the other commands of the batch do not notice it.
 *
 * <p>It is asked under the locks of the holds and before anything is decided. A command on a hold
 * that an earlier command of the same batch touched with another companion waits for the next
 * batch: by then that companion's rows are there to be read. So the order inside a batch does not
 * matter.
 *
 * @param <P> what a caller attaches to a command
 */
public interface Veto<P> extends Companion<P> {
  /**
   * Which of these holds must stay as they are. Called once per batch; it may run again when the
   * transaction is retried. It only reads.
   *
   * @param exchange the batch's transaction, which has locked the holds
   */
  Set<HoldId> keeps(Exchange exchange, ScopeId scope, Set<HoldId> holds) throws SQLException;
}
