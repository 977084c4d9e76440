package dev.lockstep.tx;

import org.jspecify.annotations.Nullable;

/**
 * A joined call failed and its exception was swallowed. The whole transaction was rolled back, or
 * must be by the caller who brought the connection.
 */
public final class TransactionDoomed extends PermanentFault {
  private static final long serialVersionUID = 1L;

  TransactionDoomed(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
