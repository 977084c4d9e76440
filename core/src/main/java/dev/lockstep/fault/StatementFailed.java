package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/** A statement failed for a reason that a retry does not cure. */
public final class StatementFailed extends PermanentFault {
  private static final long serialVersionUID = 1L;

  StatementFailed(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
