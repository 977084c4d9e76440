package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/**
 * The change may or may not have happened, and may still happen: the connection was lost during
 * COMMIT. Once an attempt was lost in a way the server cannot be asked about, every later refusal
 * and failure of that call becomes this exception. A call that committed but could not read its
 * rows ends in it too; its message says so.
 *
 * <p>Never retry on it blindly. Look the effect up (by idempotency key, by id), or give the {@link
 * Transactor} an {@link EffectLookup}, which does it for you.
 */
public final class OutcomeUnknown extends LockstepException {
  private static final long serialVersionUID = 1L;

  public OutcomeUnknown(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
