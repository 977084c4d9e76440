package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/** A statement exceeded the statement timeout or was cancelled (57014). */
public final class StatementTimeout extends TransientFault {
  private static final long serialVersionUID = 1L;

  StatementTimeout(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
