package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/** A lock was not granted within the lock timeout (55P03). */
public final class LockTimeout extends TransientFault {
  private static final long serialVersionUID = 1L;

  LockTimeout(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
