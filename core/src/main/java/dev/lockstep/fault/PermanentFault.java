package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/** Nothing was changed, and the same call will fail again. */
public abstract class PermanentFault extends LockstepException {
  private static final long serialVersionUID = 1L;

  protected PermanentFault(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
