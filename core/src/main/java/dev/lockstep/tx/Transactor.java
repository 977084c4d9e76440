package dev.lockstep.tx;

import dev.lockstep.fault.LockstepException;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.CallResult;
import dev.lockstep.sql.ClosingWork;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.ExchangeWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs your code in a database transaction, with timeouts, retry and a known commit outcome.
 *
 * <p><b>Who commits.</b> {@link #call} and {@link #run} commit when the function returns and roll
 * back when it throws. Inside another {@code call} of the same Transactor on the same thread they
 * join that transaction; the outermost call commits. A joined call that throws dooms the whole
 * transaction, even if the code around it swallows the exception. {@link #nested} confines a
 * failure to a savepoint. {@link #join} runs on the caller's connection, and the caller commits.
 * The Transactor never ends a transaction it did not begin: it refuses a connection that the
 * DataSource hands out with a transaction in progress or with auto-commit off. For pools that run
 * with auto-commit off, see {@link #onManualCommitPool}.
 *
 * <p><b>Retry.</b> After a serialization failure, a deadlock, or a connection lost before COMMIT,
 * the whole function runs again in a new transaction, with backoff and jitter. A connection lost
 * <i>during</i> COMMIT throws {@link OutcomeUnknown}, unless the call has an {@link EffectLookup}:
 * then Lockstep waits until the server has finished the transaction, and looks.
 *
 * <p><b>Session state.</b> None. Timeouts and isolation are set with {@code SET LOCAL} and {@code
 * SET TRANSACTION}, in the same round trip as BEGIN.
 *
 * <p><b>Failures.</b> An {@code SQLException} arrives as a {@link LockstepException}. Exceptions of
 * the function that did not come from the database pass unchanged.
 *
 * <p>Thread-safe.
 */
public final class Transactor {
  private final Source connections;
  private final TxOptions defaults;
  private final TxListener listener;
  private final Watch watch = new Watch();

  // Per instance on purpose: transactions of two Transactors (two databases) never join.
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<@Nullable CurrentTransaction> current = new ThreadLocal<>();

  public Transactor(DataSource dataSource) {
    this(dataSource, TxOptions.DEFAULT, attempt -> {});
  }

  public Transactor(DataSource dataSource, TxOptions defaults, TxListener listener) {
    this(new Source(dataSource, false), defaults, listener);
  }

  private Transactor(Source connections, TxOptions defaults, TxListener listener) {
    this.connections = connections;
    this.defaults = defaults;
    this.listener = listener;
  }

  /**
   * Creates a Transactor for a pool that hands out connections with auto-commit off.
   *
   * <p>The constructors refuse such connections. A connection with auto-commit off may belong to a
   * transaction that other code will end, and the Transactor would commit what that code rolls
   * back. Do not use this factory with a DataSource that is aware of the thread's transaction.
   *
   * <p>Connections go back to the pool in the mode they came in. A connection with a transaction in
   * progress is still refused.
   */
  public static Transactor onManualCommitPool(
      DataSource pool, TxOptions defaults, TxListener listener) {
    return new Transactor(new Source(pool, true), defaults, listener);
  }

  /** The options of calls that pass none. */
  public TxOptions defaults() {
    return defaults;
  }

  /** Whether this thread is in a transaction of this Transactor; a call would join it. */
  public boolean inTransaction() {
    return current.get() != null;
  }

  /**
   * For Lockstep's own blocks: whether this thread is in a transaction that runs with {@link
   * TxOptions#indexLookups()}.
   */
  public boolean plansIndexLookups() {
    CurrentTransaction transaction = current.get();
    return transaction != null && transaction.options != null && transaction.options.indexLookups();
  }

  public <T> T call(TxWork<T> work) {
    return call(defaults, work);
  }

  public <T> T call(TxOptions options, TxWork<T> work) {
    CurrentTransaction transaction = current.get();
    return transaction == null
        ? fresh(
            options,
            exchange -> work.run(exchange.connection()),
            null,
            EarlierAttempts.Report.whole())
        : joinCurrent(transaction, options, work);
  }

  /**
   * As {@link #call(TxOptions, TxWork)}, and settles a connection lost during COMMIT: if the lookup
   * finds the effect, its result is returned; if not, the transaction runs again.
   *
   * @throws IllegalStateException inside another transaction, because the outermost call commits
   */
  public <T> T call(TxOptions options, TxWork<T> work, EffectLookup<T> lookup) {
    requireOutermost(options);
    return fresh(
        options,
        exchange -> work.run(exchange.connection()),
        lookup,
        EarlierAttempts.Report.whole());
  }

  /**
   * For Lockstep's own blocks; the types of the work are not exported. As {@link #call(TxOptions,
   * TxWork, EffectLookup)}, for work that answers many requests and sends its first and last
   * statements together with BEGIN and COMMIT.
   *
   * <p>A transaction sent in one packet ({@link Exchange#deferInOnePacket}) can be lost before we
   * learn its id, so we cannot ask the server about it. The work then runs again, and the lost
   * attempt may still commit after the retry. From then on only a {@link AttemptResult.Final}
   * answer is reported; every other answer and every failure becomes {@link OutcomeUnknown}.
   */
  @SuppressWarnings("exports")
  public <A> List<CallResult<A>> exchange(
      TxOptions options,
      ExchangeWork<List<AttemptResult<A>>> work,
      EffectLookup<List<AttemptResult<A>>> lookup) {
    requireOutermost(options);
    return fresh(options, work, lookup, EarlierAttempts.Report.each());
  }

  private void requireOutermost(TxOptions options) {
    if (current.get() != null) {
      throw new IllegalStateException(
          "A call with a lookup cannot join; give the lookup to the outermost call, which commits");
    }
    if (options.readOnly()) {
      throw new IllegalArgumentException("A read-only transaction has no effect to look up");
    }
  }

  public void run(TxAction action) {
    run(defaults, action);
  }

  public void run(TxOptions options, TxAction action) {
    call(options, asWork(action));
  }

  /**
   * Runs work in a savepoint of this thread's transaction; if it throws, only its changes are
   * undone. A serialization failure or a deadlock still dooms the whole transaction, which then
   * runs again: rolling back to a savepoint does not renew an old snapshot.
   *
   * @throws IllegalStateException outside a transaction
   */
  public <T> T nested(TxWork<T> work) {
    CurrentTransaction transaction = current.get();
    if (transaction == null) {
      throw new IllegalStateException(
          "nested() runs inside a transaction only; wrap it in call() or run()");
    }
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
      throw translate(e, "nested", transaction.isReadOnly());
    }
  }

  /**
   * For Lockstep's own blocks; the type of the work is not exported. Hands an item to work that
   * runs at the end of this thread's transaction. When the outermost function has returned, each
   * work runs once with all its items, after every other statement. Its last statements travel with
   * COMMIT. They hold their locks only for the commit, and cost no extra round trip.
   *
   * <p>If one of these statements fails, nothing commits; the fault is retried or thrown like any
   * other. If the connection is lost while they run, it counts as lost during COMMIT, even if they
   * had only begun.
   *
   * <p>Items handed over in a {@link #nested} that throws are dropped. Inside {@link #join} the
   * work runs when that call returns, because the caller sends COMMIT.
   *
   * @param work the same object every time
   * @throws IllegalStateException outside a transaction
   */
  @SuppressWarnings("exports")
  public <T> void beforeCommit(ClosingWork<T> work, T item) {
    CurrentTransaction transaction = current.get();
    if (transaction == null) {
      throw new IllegalStateException(
          "beforeCommit() runs inside a transaction only; wrap it in call() or run()");
    }
    transaction.beforeCommit(work, item);
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

  /**
   * Runs work on the caller's connection, inside the caller's transaction. Never commits, rolls
   * back, retries or changes a setting. Calls of this Transactor made inside join that transaction.
   *
   * @throws TransactionDoomed if a joined call failed and its exception was swallowed; the caller
   *     must roll back
   * @throws IllegalStateException if the connection is in auto-commit mode
   */
  public <T> T join(Connection connection, TxWork<T> work) {
    CurrentTransaction outer = current.get();
    try {
      if (connection.getAutoCommit()) {
        throw new IllegalStateException(
            "The connection is in auto-commit mode; begin a transaction first");
      }
      return runIn(
          new CurrentTransaction(Exchange.within(connection), null),
          exchange -> work.run(exchange.connection()));
    } catch (SQLException e) {
      throw translate(e, "on the caller's connection", isReadOnly(connection));
    } finally {
      restore(outer);
    }
  }

  /** As {@link #join}, without a result. */
  public void runJoined(Connection connection, TxAction action) {
    join(connection, asWork(action));
  }

  private <T, R> R fresh(
      TxOptions options,
      ExchangeWork<T> work,
      @Nullable EffectLookup<T> lookup,
      EarlierAttempts.Report<T, R> report) {
    ExchangeWork<T> tracked = exchange -> runIn(new CurrentTransaction(exchange, options), work);
    return new Attempts<>(connections, options, listener, watch, tracked, lookup, report).run();
  }

  private <T> T runIn(CurrentTransaction transaction, ExchangeWork<T> work) throws SQLException {
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
      current.remove();
    }
  }

  private static <T> T joinCurrent(
      CurrentTransaction transaction, TxOptions options, TxWork<T> work) {
    try {
      requireCompatible(transaction, options);
      return work.run(transaction.exchange.connection());
    } catch (SQLException e) {
      transaction.doom(e);
      throw translate(e, options.label(), transaction.isReadOnly());
    } catch (Throwable e) {
      transaction.doom(e);
      throw e;
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

  private static boolean isReadOnly(Connection connection) {
    try {
      return connection.isReadOnly();
    } catch (SQLException e) {
      return false;
    }
  }

  private static TxWork<Optional<Void>> asWork(TxAction action) {
    return connection -> {
      action.run(connection);
      return Optional.empty();
    };
  }
}
