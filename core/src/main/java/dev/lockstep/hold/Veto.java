package dev.lockstep.hold;

import dev.lockstep.sql.Exchange;
import java.sql.SQLException;
import java.util.Set;

/**
 * A companion that can also refuse the commands it is attached to. If the caller's own tables say
 * that a hold must stay as it is, the answer is {@link HoldOutcome.Vetoed}. That refusal is an
 * ordinary outcome, so the other commands of the batch are unaffected.
 *
 * <p>It is asked while the holds are locked and before anything is decided. If an earlier command
 * of the batch touches the same hold with another companion, the command with the veto waits for
 * the next batch, when that companion's rows can be read. So the order inside a batch does not
 * matter.
 *
 * @param <P> what a caller attaches to a command
 */
public interface Veto<P> extends Companion<P> {
  /**
   * Returns the holds that must stay as they are. Called once per batch; it may run again when the
   * transaction is retried. It must only read.
   *
   * @param exchange the batch's transaction, which has locked the holds
   */
  Set<HoldId> keeps(Exchange exchange, ScopeId scope, Set<HoldId> holds) throws SQLException;
}
