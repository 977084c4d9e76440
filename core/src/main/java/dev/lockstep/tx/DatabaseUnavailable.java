package dev.lockstep.tx;

import org.jspecify.annotations.Nullable;

/** No working connection to the database, before any COMMIT was sent. */
public final class DatabaseUnavailable extends TransientFault {
  private static final long serialVersionUID = 1L;

  DatabaseUnavailable(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
