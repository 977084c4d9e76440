package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/** A database constraint refused the change (class 23). */
public final class ConstraintViolated extends PermanentFault {
  private static final long serialVersionUID = 1L;

  ConstraintViolated(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
