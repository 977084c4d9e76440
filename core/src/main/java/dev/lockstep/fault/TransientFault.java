package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/** Nothing was changed, and the same call may succeed later. */
public abstract class TransientFault extends LockstepException {
  private static final long serialVersionUID = 1L;

  protected TransientFault(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
