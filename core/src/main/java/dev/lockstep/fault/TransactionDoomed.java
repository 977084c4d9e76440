package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/**
 * A joined call failed and its exception was swallowed. The transaction was rolled back; on a
 * connection that the caller brought, the caller must roll it back.
 */
public final class TransactionDoomed extends PermanentFault {
  private static final long serialVersionUID = 1L;

  TransactionDoomed(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
