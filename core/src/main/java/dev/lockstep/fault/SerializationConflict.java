package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/** Conflicts with other transactions (40001, 40P01) lasted through every attempt. */
public final class SerializationConflict extends TransientFault {
  private static final long serialVersionUID = 1L;

  SerializationConflict(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
