package dev.lockstep.tx;

import dev.lockstep.fault.LockstepException;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.ExchangeWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Knows the transaction that each thread is in, and runs work inside it: in our own, on a
 * connection of the caller's, or in a transaction of the application's framework.
 */
final class Joins {
  private final DataSource dataSource;
  private final HostTransactions hosts;

  // Per instance on purpose: transactions of two Transactors (two databases) never join.
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<@Nullable CurrentTransaction> current = new ThreadLocal<>();

  Joins(DataSource dataSource, HostTransactions hosts) {
    this.dataSource = dataSource;
    this.hosts = hosts;
  }

  /** The transaction that the framework has under way on this thread. */
  @Nullable HostTransaction host() {
    return hosts.current(dataSource).orElse(null);
  }

  /** The transaction that a call joins, unless the host has begun or suspended one since. */
  @Nullable CurrentTransaction current(@Nullable HostTransaction host) {
    CurrentTransaction transaction = current.get();
    return transaction != null && transaction.host == host ? transaction : null;
  }

  /** Runs work as what a thread's transaction consists of, closing work included. */
  <T> T runIn(CurrentTransaction transaction, ExchangeWork<T> work) throws SQLException {
    CurrentTransaction outer = current.get();
    current.set(transaction);
    try {
      T result = work.run(transaction.exchange);
      if (transaction.doom != null) {
        throw new TransactionDoomed(
            "A joined call failed and its exception was swallowed; roll the transaction back",
            transaction.doom);
      }
      transaction.runClosingWork();
      return result;
    } finally {
      restore(outer);
    }
  }

  /** Runs work in our own transaction, which the framework's code joins. */
  <T> T shared(TxWork<T> work) throws SQLException {
    CurrentTransaction transaction = Objects.requireNonNull(current.get());
    Connection connection = transaction.exchange.connection();
    SharedTransaction shared = hosts.share(dataSource, connection);
    if (shared == SharedTransaction.NONE) {
      return work.run(connection);
    }
    transaction.share(shared);
    try {
      T result = work.run(connection);
      shared.beforeCommit();
      return result;
    } finally {
      shared.leave();
    }
  }

  /** Runs work on a connection whose transaction others end. */
  <T> T joinOn(
      Connection connection, @Nullable HostTransaction host, String doing, TxWork<T> work) {
    try {
      if (connection.getAutoCommit()) {
        throw new IllegalStateException(
            "The connection is in auto-commit mode; begin a transaction first");
      }
      return runIn(
          new CurrentTransaction(Exchange.within(connection), null, host),
          exchange -> work.run(exchange.connection()));
    } catch (SQLException e) {
      throw translate(e, doing, isReadOnly(connection));
    }
  }

  /** Runs work in the host's transaction, which cannot commit if it fails. */
  <T> T joinHost(HostTransaction host, TxOptions options, TxWork<T> work) {
    try {
      return joinOn(
          host.connection(),
          host,
          options.label(),
          connection -> joinCurrent(Objects.requireNonNull(current.get()), options, work));
    } catch (SQLException e) {
      host.refuseCommit(e);
      throw translate(e, options.label(), false);
    } catch (Throwable e) {
      host.refuseCommit(e);
      throw e;
    }
  }

  static <T> T joinCurrent(CurrentTransaction transaction, TxOptions options, TxWork<T> work) {
    try {
      requireCompatible(transaction, options);
      return work.run(transaction.exchange.connection());
    } catch (SQLException e) {
      transaction.doom(e);
      throw translate(e, options.label(), isReadOnly(transaction));
    } catch (Throwable e) {
      transaction.doom(e);
      throw e;
    }
  }

  /** Runs work in a savepoint. */
  static <T> T nested(CurrentTransaction transaction, TxWork<T> work) {
    Throwable doomBefore = transaction.doom;
    int closingItemsBefore = transaction.closingItems();
    try {
      Connection connection = transaction.exchange.connection();
      Savepoint savepoint = connection.setSavepoint();
      try {
        T result = work.run(connection);
        connection.releaseSavepoint(savepoint);
        return result;
      } catch (Throwable e) {
        transaction.doom = undo(transaction, savepoint, e) ? doomBefore : e;
        transaction.dropClosingItemsAfter(closingItemsBefore);
        throw e;
      }
    } catch (SQLException e) {
      throw translate(e, "nested", isReadOnly(transaction));
    }
  }

  /** Rolls back to the savepoint. True if the transaction can go on from there. */
  private static boolean undo(
      CurrentTransaction transaction, Savepoint savepoint, Throwable because) {
    try {
      transaction.exchange.connection().rollback(savepoint);
      return SqlFault.behind(because).filter(SqlFault::retryable).isEmpty();
    } catch (Throwable e) {
      because.addSuppressed(e);
      return false;
    }
  }

  private static void requireCompatible(CurrentTransaction transaction, TxOptions inner)
      throws SQLException {
    TxOptions outer = transaction.options;
    if (outer != null && outer.readOnly() && !inner.readOnly()) {
      throw new IllegalStateException(
          "'" + inner.label() + "' may write, but joins read-only '" + outer.label() + "'");
    }
    if (inner.isolation() == Isolation.READ_COMMITTED) {
      return;
    }
    Isolation actual =
        outer != null
            ? outer.isolation()
            : switch (transaction.exchange.connection().getTransactionIsolation()) {
              case Connection.TRANSACTION_SERIALIZABLE -> Isolation.SERIALIZABLE;
              case Connection.TRANSACTION_REPEATABLE_READ -> Isolation.REPEATABLE_READ;
              default -> Isolation.READ_COMMITTED;
            };
    if (inner.isolation().compareTo(actual) > 0) {
      throw new IllegalStateException(
          "'" + inner.label() + "' needs " + inner.isolation() + ", but joins " + actual);
    }
  }

  private void restore(@Nullable CurrentTransaction outer) {
    if (outer == null) {
      current.remove();
    } else {
      current.set(outer);
    }
  }

  private static LockstepException translate(SQLException e, String doing, boolean readOnly) {
    return SqlFault.of(e, readOnly).asException(doing, e);
  }

  private static boolean isReadOnly(CurrentTransaction transaction) {
    try {
      return transaction.options == null
          ? isReadOnly(transaction.exchange.connection())
          : transaction.options.readOnly();
    } catch (SQLException e) {
      return false;
    }
  }

  private static boolean isReadOnly(Connection connection) {
    try {
      return connection.isReadOnly();
    } catch (SQLException e) {
      return false;
    }
  }
}
