package dev.lockstep.ledger;

import dev.lockstep.combine.Provisional;
import org.jspecify.annotations.Nullable;

/**
 * The answer to an {@link Ask}. A refusal that expired transfers may still cure is {@link #again}
 * and carries no outcome.
 *
 * @param outcome null for a sweep, and if the ask must be decided again
 * @param swept expired transfers that the batch ended; of several sweeps only the first counts them
 */
record Reply(@Nullable LedgerOutcome outcome, boolean again, int swept) implements Provisional {
  Reply {
    if (again && outcome != null) {
      throw new IllegalArgumentException("A reply that asks again must not carry an outcome");
    }
  }

  /** The reply to a command. */
  static Reply to(Plan.Answer answer, int swept) {
    return new Reply(answer.askAgain() ? null : answer.outcome(), answer.askAgain(), swept);
  }

  /** The reply to a command that was not decided, because an earlier one must be first. */
  static Reply undecided(int swept) {
    return new Reply(null, true, swept);
  }

  /** The reply to a sweep. */
  static Reply swept(int swept) {
    return new Reply(null, false, swept);
  }
}
