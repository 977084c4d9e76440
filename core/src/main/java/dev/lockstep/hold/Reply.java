package dev.lockstep.hold;

import dev.lockstep.combine.Provisional;
import org.jspecify.annotations.Nullable;

/**
 * The answer to an {@link Ask}. A refusal that expired holds may still cure is {@link #again} and
 * carries no outcome, so no provisional result can reach a caller.
 *
 * @param outcome null for a sweep, and if the ask must be decided again
 * @param again the ask must be decided again: more holds have expired than the batch could take
 *     back, or it is put off
 * @param putOff the next batch, which begins at once, decides it; see {@link Veto}
 * @param swept expired holds that the batch took back
 */
record Reply(@Nullable HoldOutcome outcome, boolean again, boolean putOff, int swept)
    implements Provisional {
  Reply {
    if (again && outcome != null) {
      throw new IllegalArgumentException("A reply that asks again must not carry an outcome");
    }
  }

  /** The reply to a command. */
  static Reply to(Plan.Answer answer, int swept) {
    return new Reply(answer.askAgain() ? null : answer.outcome(), answer.askAgain(), false, swept);
  }

  /** The reply to a command that was not decided, because an earlier one must be first. */
  static Reply undecided(int swept) {
    return new Reply(null, true, false, swept);
  }

  /** The reply to a sweep. */
  static Reply swept(int swept, boolean more) {
    return new Reply(null, more, false, swept);
  }

  /** The reply to a command that the next batch decides. */
  static Reply putOff(int swept) {
    return new Reply(null, true, true, swept);
  }
}
