package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/** The call's deadline passed; the transaction was rolled back. */
public final class DeadlineExceeded extends TransientFault {
  private static final long serialVersionUID = 1L;

  DeadlineExceeded(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
