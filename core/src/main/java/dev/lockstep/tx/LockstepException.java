package dev.lockstep.tx;

import org.jspecify.annotations.Nullable;

/**
 * The root of every exception Lockstep throws for a fault. Expected outcomes (sold out, limit
 * reached, …) are result values and never come this way.
 *
 * <p>The subtype tells what a caller may do: {@link TransientFault} may be tried again as it is,
 * {@link PermanentFault} may not, and {@link OutcomeUnknown} must first be looked up.
 */
public abstract class LockstepException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  protected LockstepException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
