package dev.lockstep.tx;

import org.jspecify.annotations.Nullable;

/**
 * The connection was lost while COMMIT was under way: the change may or may not have happened, and
 * may still happen. Also what becomes of every refusal and failure of a call once one of its
 * attempts was lost in that way and cannot be asked for; and of a call whose rows could not be read
 * after COMMIT, as the message says then.
 *
 * <p>Never retry on this blindly. Look the effect up (by idempotency key, by id) or give {@link
 * Transactor} an {@link EffectLookup}, which does it for you.
 */
public final class OutcomeUnknown extends LockstepException {
  private static final long serialVersionUID = 1L;

  public OutcomeUnknown(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
