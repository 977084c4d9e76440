package dev.lockstep.ledger;

import dev.lockstep.combine.Provisional;
import org.jspecify.annotations.Nullable;

/**
 * The answer to an {@link Ask}. A refusal that expired transfers may still cure is {@link #again}
 * and carries no outcome.
 *
 * @param outcome null for a sweep, and where the ask must be decided again
 * @param swept expired transfers ended by the batch; of several sweeps only one counts them
 */
record Reply(@Nullable LedgerOutcome outcome, boolean again, int swept) implements Provisional {
  Reply {
    if (again && outcome != null) {
      throw new IllegalArgumentException("A provisional outcome is told to nobody");
    }
  }

  /** To a command. */
  static Reply to(Plan.Answer answer, int swept) {
    return new Reply(answer.askAgain() ? null : answer.outcome(), answer.askAgain(), swept);
  }

  /** To a sweep. */
  static Reply swept(int swept) {
    return new Reply(null, false, swept);
  }
}
