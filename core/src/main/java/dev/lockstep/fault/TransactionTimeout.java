package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/**
 * The server ended the transaction and its session (25P03, 25P04): the work paused longer than
 * {@code TxOptions.idleTimeout} between two statements, or the whole transaction took longer than
 * {@code TxOptions.transactionTimeout}. Nothing was changed.
 *
 * <p>A brief stall of the process or the network looks the same, so the transaction runs once more.
 * Work that is too slow twice is not tried a third time.
 */
public final class TransactionTimeout extends TransientFault {
  private static final long serialVersionUID = 1L;

  public TransactionTimeout(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
