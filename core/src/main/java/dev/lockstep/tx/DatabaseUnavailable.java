package dev.lockstep.tx;

import org.jspecify.annotations.Nullable;

/**
 * The database cannot do it now: it is away, takes no writes, or its disk is full. Nothing was
 * done.
 */
public final class DatabaseUnavailable extends TransientFault {
  private static final long serialVersionUID = 1L;

  DatabaseUnavailable(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
