package dev.lockstep.tx;

import dev.lockstep.sql.ClosingWork;
import dev.lockstep.sql.Exchange;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The transaction that a thread is in, and that an inner call joins. */
final class Frame {
  final Exchange exchange;

  /** The options of our own transaction; null if the caller brought the connection. */
  final @Nullable TxOptions options;

  /**
   * Why this transaction must not commit. A joined call that failed may leave half its work behind,
   * even if the code around it swallows the exception.
   */
  @Nullable Throwable doom;

  private final List<Left<?>> left = new ArrayList<>();

  private record Left<T>(ClosingWork<T> work, T item) {}

  Frame(Exchange exchange, @Nullable TxOptions options) {
    this.exchange = exchange;
    this.options = options;
  }

  /** True only for our own transaction with read-only options. */
  boolean isReadOnly() {
    return options != null && options.readOnly();
  }

  void doom(Throwable cause) {
    if (doom == null) {
      doom = cause;
    }
  }

  <T> void leave(ClosingWork<T> work, T item) {
    left.add(new Left<>(work, item));
  }

  /** The number of items left so far. */
  int left() {
    return left.size();
  }

  /** Drops the items left since there were {@code since} of them. */
  void forgetLeft(int since) {
    left.subList(since, left.size()).clear();
  }

  /** Runs each work once, in the order in which the works were first named. */
  void runLast() throws SQLException {
    while (!left.isEmpty()) {
      runLast(left.get(0).work());
    }
  }

  private <T> void runLast(ClosingWork<T> work) throws SQLException {
    List<T> items = new ArrayList<>();
    for (Left<?> one : left) {
      if (one.work() == work) {
        // The item was left for this work, so it has the work's type.
        @SuppressWarnings("unchecked")
        T item = (T) one.item();
        items.add(item);
      }
    }
    left.removeIf(one -> one.work() == work);
    work.run(exchange, items);
  }
}
