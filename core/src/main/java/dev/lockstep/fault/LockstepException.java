package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/**
 * Root of every exception that Lockstep throws for a fault. Expected outcomes (sold out, limit
 * reached, …) are result values instead.
 *
 * <p>The subtype says what the caller may do. After a {@link TransientFault}, retry the call
 * unchanged. After a {@link PermanentFault}, do not. After {@link OutcomeUnknown}, look the effect
 * up first.
 */
public abstract class LockstepException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  protected LockstepException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
