package dev.lockstep.fault;

import org.jspecify.annotations.Nullable;

/**
 * The server ended the transaction and its session (25P03, 25P04): the work paused longer than
 * {@link TxOptions#idleTimeout()} between two statements, or the whole transaction took longer than
 * {@link TxOptions#transactionTimeout()}. Nothing was changed.
 *
 * <p>A brief stall of the process or the network looks the same, so the transaction runs once more.
 * Work that is too slow twice is not tried a third time.
 */
public final class TransactionTimeout extends TransientFault {
  private static final long serialVersionUID = 1L;

  TransactionTimeout(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  static TransactionTimeout of(TxOptions options, int attempt, Throwable cause) {
    String what;
    if (SqlFault.saysIdle(cause)) {
      what =
          "the work paused for longer than idleTimeout (%s) between two statements, so the server ended it. Pause less, or raise TxOptions.idleTimeout"
              .formatted(options.idleTimeout());
    } else if (SqlFault.behind(cause).filter(SqlFault.OVERDUE::equals).isPresent()) {
      what =
          "it took longer than transactionTimeout (%s), so the server ended it. Do less in one transaction, or raise TxOptions.transactionTimeout"
              .formatted(options.effectiveTransactionTimeout());
    } else {
      what =
          "the connection was lost again after more than idleTimeout (%s). If the work pauses that long between two statements, pause less, or raise TxOptions.idleTimeout"
              .formatted(options.idleTimeout());
    }
    return new TransactionTimeout(
        "%s (attempt %d): %s".formatted(options.label(), attempt, what), cause);
  }
}
