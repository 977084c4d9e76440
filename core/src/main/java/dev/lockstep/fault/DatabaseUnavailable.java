package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/** The database is unreachable, takes no writes, or its disk is full. Nothing was changed. */
public final class DatabaseUnavailable extends TransientFault {
  private static final long serialVersionUID = 1L;

  DatabaseUnavailable(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
