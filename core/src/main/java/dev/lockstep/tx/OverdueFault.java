package dev.lockstep.tx;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.fault.TransactionTimeout;

/** Says which timeout an overdue transaction met, and which option to raise. */
final class OverdueFault {
  private OverdueFault() {}

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
