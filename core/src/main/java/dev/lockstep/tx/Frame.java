package dev.lockstep.tx;

import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/** The transaction a thread is in: what a nested call joins. */
final class Frame {
  final Connection connection;

  /** Of an own transaction; null when the caller brought the connection. */
  final @Nullable TxOptions options;

  /**
   * Why this transaction must not commit. A joined call that failed half way leaves half its work
   * behind, even if the code around it swallows the exception.
   */
  @Nullable Throwable doom;

  Frame(Connection connection, @Nullable TxOptions options) {
    this.connection = connection;
    this.options = options;
  }

  void doom(Throwable cause) {
    if (doom == null) {
      doom = cause;
    }
  }
}
