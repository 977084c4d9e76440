package dev.lockstep.tx;

import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.sql.ClosingWork;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.Listening;
import dev.lockstep.tx.SharedTransaction.Ending;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The transaction that a thread is in, and that an inner call joins. */
final class CurrentTransaction {
  final Exchange exchange;

  /** The options of our own transaction; null if the caller or the host brought the connection. */
  final @Nullable TxOptions options;

  /**
   * The host's transaction when this one was entered. If the host has another one by now, or
   * suspended it, calls do not belong here.
   */
  final @Nullable HostTransaction host;

  /**
   * Why this transaction must not commit. A joined call that failed may leave half its work behind,
   * even if the code around it swallows the exception.
   */
  @Nullable Throwable doom;

  private final List<ClosingItem<?>> closing = new ArrayList<>();
  private final Set<Runnable> afterCommit = new LinkedHashSet<>();
  private SharedTransaction shared = SharedTransaction.NONE;

  private record ClosingItem<T>(ClosingWork<T> work, T item) {}

  CurrentTransaction(
      Exchange exchange, @Nullable TxOptions options, @Nullable HostTransaction host) {
    this.exchange = exchange;
    this.options = options;
    this.host = host;
  }

  /** Our own transaction, which no host knows of. */
  static CurrentTransaction own(Exchange exchange, TxOptions options) {
    return new CurrentTransaction(exchange, options, null);
  }

  void doom(Throwable cause) {
    if (doom == null) {
      doom = cause;
    }
  }

  /** Only for our own transaction. */
  void afterCommit(Runnable action) {
    afterCommit.add(action);
  }

  /** The framework knows of this transaction, and hears how it ends. */
  void share(SharedTransaction with) {
    shared = with;
    exchange.whenNotCommitted(
        thrown -> ended(thrown instanceof OutcomeUnknown ? Ending.UNKNOWN : Ending.ROLLED_BACK));
  }

  /** Call once it has committed. */
  void committed() {
    ended(Ending.COMMITTED);
    afterCommit.forEach(Listening::tell);
  }

  /** Call once it is over. Only the first call counts. */
  void ended(Ending ending) {
    SharedTransaction with = shared;
    shared = SharedTransaction.NONE;
    Listening.tell(() -> with.ended(ending));
  }

  <T> void beforeCommit(ClosingWork<T> work, T item) {
    closing.add(new ClosingItem<>(work, item));
  }

  /** The number of items that wait for closing work. */
  int closingItems() {
    return closing.size();
  }

  /** Drops all items but the first {@code count}. */
  void dropClosingItemsAfter(int count) {
    closing.subList(count, closing.size()).clear();
  }

  /** Runs each closing work once, in the order in which they were first added. */
  void runClosingWork() throws SQLException {
    while (!closing.isEmpty()) {
      runClosingWork(closing.get(0).work());
    }
  }

  private <T> void runClosingWork(ClosingWork<T> work) throws SQLException {
    List<T> items = new ArrayList<>();
    for (ClosingItem<?> one : closing) {
      if (one.work() == work) {
        // The item was added for this work, so it has the work's type.
        @SuppressWarnings("unchecked")
        T item = (T) one.item();
        items.add(item);
      }
    }
    closing.removeIf(one -> one.work() == work);
    work.run(exchange, items);
  }
}
