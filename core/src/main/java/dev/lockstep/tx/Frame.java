package dev.lockstep.tx;

import org.jspecify.annotations.Nullable;

/** The transaction a thread is in: what a nested call joins. */
final class Frame {
  final Exchange exchange;

  /** Of an own transaction; null when the caller brought the connection. */
  final @Nullable TxOptions options;

  /**
   * Why this transaction must not commit. A joined call that failed half way leaves half its work
   * behind, even if the code around it swallows the exception.
   */
  @Nullable Throwable doom;

  Frame(Exchange exchange, @Nullable TxOptions options) {
    this.exchange = exchange;
    this.options = options;
  }

  void doom(Throwable cause) {
    if (doom == null) {
      doom = cause;
    }
  }
}
