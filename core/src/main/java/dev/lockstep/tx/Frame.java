package dev.lockstep.tx;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
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

  private final List<Left<?>> left = new ArrayList<>();

  private record Left<T>(LastWork<T> work, T item) {}

  Frame(Exchange exchange, @Nullable TxOptions options) {
    this.exchange = exchange;
    this.options = options;
  }

  /** Of an own transaction that its caller marked so. */
  boolean isReadOnly() {
    return options != null && options.readOnly();
  }

  void doom(Throwable cause) {
    if (doom == null) {
      doom = cause;
    }
  }

  <T> void leave(LastWork<T> work, T item) {
    left.add(new Left<>(work, item));
  }

  /** How much was left so far. */
  int left() {
    return left.size();
  }

  /** What was left since then is undone. */
  void forgetLeft(int since) {
    left.subList(since, left.size()).clear();
  }

  /** Each work once, in the order in which they were first named. */
  void runLast() throws SQLException {
    while (!left.isEmpty()) {
      runLast(left.get(0).work());
    }
  }

  private <T> void runLast(LastWork<T> work) throws SQLException {
    List<T> items = new ArrayList<>();
    for (Left<?> one : left) {
      if (one.work() == work) {
        // Left under this very work, so of its type.
        @SuppressWarnings("unchecked")
        T item = (T) one.item();
        items.add(item);
      }
    }
    left.removeIf(one -> one.work() == work);
    work.run(exchange, items);
  }
}
