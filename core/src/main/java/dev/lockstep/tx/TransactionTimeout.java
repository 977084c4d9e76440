package dev.lockstep.tx;

import org.jspecify.annotations.Nullable;

/**
 * The server ended the transaction and its session (25P03, 25P04): the work paused for longer than
 * {@link TxOptions#idleTimeout()} between two statements, or the whole took longer than {@link
 * TxOptions#transactionTimeout()}. Nothing was changed.
 *
 * <p>A process or a network that stood still for a moment looks the same, so the transaction is run
 * once more; what is too slow the second time is not going to be faster the third.
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
          "the work paused for longer than idleTimeout (%s) between two statements, so the server ended it. Compute less there, or raise TxOptions.idleTimeout"
              .formatted(options.idleTimeout());
    } else if (SqlFault.behind(cause).filter(SqlFault.OVERDUE::equals).isPresent()) {
      what =
          "it took longer than transactionTimeout (%s), so the server ended it. Do less in one transaction, or raise TxOptions.transactionTimeout"
              .formatted(options.effectiveTransactionTimeout());
    } else {
      what =
          "the connection was lost again after more than idleTimeout (%s). If the work pauses for that long between two statements, compute less there, or raise TxOptions.idleTimeout"
              .formatted(options.idleTimeout());
    }
    return new TransactionTimeout(
        "%s (attempt %d): %s".formatted(options.label(), attempt, what), cause);
  }
}
