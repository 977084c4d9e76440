package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs functions in transactions.
 *
 * <p><b>Who commits.</b> {@link #call} and {@link #run} commit when the function returns and roll
 * back when it throws. Inside another {@code call} of the same Transactor on the same thread they
 * join that transaction, and the outermost commits; a joined call that throws dooms the whole, even
 * if its exception is swallowed. {@link #nested} confines a failure to a savepoint. {@link #on}
 * runs on a connection of the caller's, who commits. A connection that the DataSource hands out
 * with a transaction in progress, or not in auto-commit mode, is refused: what the Transactor did
 * not begin it never ends. See {@link #onManualCommitPool} for pools without auto-commit.
 *
 * <p><b>Retry.</b> Serialization failures, deadlocks and connections lost before COMMIT are retried
 * as a whole new transaction with backoff and jitter. A connection lost <i>during</i> COMMIT is
 * {@link OutcomeUnknown}, unless an {@link EffectLookup} was given: then Lockstep waits until the
 * server has finished with the transaction and looks.
 *
 * <p><b>Session state.</b> None: timeouts and isolation are set with {@code SET LOCAL} and {@code
 * SET TRANSACTION}, in one round trip together with BEGIN.
 *
 * <p>Thread-safe. Exceptions of the function that did not come from the database pass unchanged.
 */
public final class Transactor {
  private final Source connections;
  private final TxOptions defaults;
  private final TxListener listener;
  private final Watch watch = new Watch();

  // Per instance on purpose: transactions of two Transactors (two databases) never join.
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<@Nullable Frame> current = new ThreadLocal<>();

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
   * For a pool that is configured to hand out connections that are not in auto-commit mode.
   * Otherwise such a connection is refused: it may belong to a transaction that somebody else is
   * about to use, and the Transactor would commit what they roll back. Do not use this with a
   * DataSource that knows of the transaction a thread is in.
   *
   * <p>Connections go back as they came. One with a transaction in progress is refused here, too.
   */
  public static Transactor onManualCommitPool(
      DataSource pool, TxOptions defaults, TxListener listener) {
    return new Transactor(new Source(pool, true), defaults, listener);
  }

  /** The options of calls that name none. */
  public TxOptions defaults() {
    return defaults;
  }

  /** Whether this thread is in a transaction that a call would join. */
  public boolean inTransaction() {
    return current.get() != null;
  }

  /** Whether this thread is in such a transaction, with {@link TxOptions#pointLookups()}. */
  public boolean plansPointLookups() {
    Frame frame = current.get();
    return frame != null && frame.options != null && frame.options.pointLookups();
  }

  public <T> T call(TxWork<T> work) {
    return call(defaults, work);
  }

  public <T> T call(TxOptions options, TxWork<T> work) {
    Frame frame = current.get();
    return frame == null
        ? fresh(options, exchange -> work.run(exchange.connection()), null, Past.Telling.whole())
        : join(frame, options, work);
  }

  /**
   * As {@link #call(TxOptions, TxWork)}, and resolves a connection lost during COMMIT by looking
   * the effect up: found, its result is returned; not there, the transaction is tried again.
   *
   * @throws IllegalStateException inside another transaction, which is the one that commits
   */
  public <T> T call(TxOptions options, TxWork<T> work, EffectLookup<T> lookup) {
    requireOutermost(options);
    return fresh(
        options, exchange -> work.run(exchange.connection()), lookup, Past.Telling.whole());
  }

  /**
   * As {@link #call(TxOptions, TxWork, EffectLookup)}, for work that answers many requests and
   * shares its first and its last round trip with BEGIN and COMMIT.
   *
   * <p>A transaction that goes in one packet ({@link Exchange#only}) can be lost without a name to
   * ask for. The work is then run again, and the lost attempt may still commit. From then on only
   * what is {@link Verdict.Final} is told; everything else, every failure included, is {@link
   * OutcomeUnknown}.
   */
  public <A> List<Told<A>> exchange(
      TxOptions options,
      ExchangeWork<List<Verdict<A>>> work,
      EffectLookup<List<Verdict<A>>> lookup) {
    requireOutermost(options);
    return fresh(options, work, lookup, Past.Telling.each());
  }

  private void requireOutermost(TxOptions options) {
    if (current.get() != null) {
      throw new IllegalStateException(
          "A lookup belongs to the outermost transaction, which is the one that commits");
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
   * Runs within a savepoint of the transaction this thread is in: if the work throws, only its own
   * changes are undone. A serialization failure or deadlock still dooms the whole transaction,
   * which is then retried as one; no savepoint can cure an old snapshot.
   *
   * @throws IllegalStateException outside a transaction
   */
  public <T> T nested(TxWork<T> work) {
    Frame frame = current.get();
    if (frame == null) {
      throw new IllegalStateException("nested() needs a transaction around it");
    }
    Throwable doomBefore = frame.doom;
    int leftBefore = frame.left();
    try {
      Connection connection = frame.exchange.connection();
      Savepoint savepoint = connection.setSavepoint();
      try {
        T result = work.run(connection);
        connection.releaseSavepoint(savepoint);
        return result;
      } catch (Throwable e) {
        frame.doom = undo(frame, savepoint, e) ? doomBefore : e;
        frame.forgetLeft(leftBefore);
        throw e;
      }
    } catch (SQLException e) {
      throw translate(e, "nested", frame.isReadOnly());
    }
  }

  /**
   * Leaves something for the end of the transaction this thread is in. When the outermost function
   * has returned, the work is run once with all that was left for it, after every other statement
   * of the transaction; its last statements go to the server together with COMMIT. So what they
   * lock is locked for the commit alone, and they cost no crossing of the network.
   *
   * <p>A statement that fails there commits nothing, and is retried or thrown as any other. A
   * connection lost while they run is lost during COMMIT, even if they had only begun.
   *
   * <p>What was left in a {@link #nested} that throws is forgotten. Inside {@link #on} the work is
   * run when that returns, since the COMMIT is the caller's.
   *
   * @param work the same object every time
   * @throws IllegalStateException outside a transaction
   */
  public <T> void leave(LastWork<T> work, T item) {
    Frame frame = current.get();
    if (frame == null) {
      throw new IllegalStateException("Something can be left for the end of a transaction only");
    }
    frame.leave(work, item);
  }

  /** Whether the transaction is as it was before the savepoint. */
  private static boolean undo(Frame frame, Savepoint savepoint, Throwable because) {
    try {
      frame.exchange.connection().rollback(savepoint);
      return SqlFault.behind(because).filter(SqlFault::retryable).isEmpty();
    } catch (Throwable e) {
      because.addSuppressed(e);
      return false;
    }
  }

  /**
   * Runs on the caller's connection, within the caller's transaction: never commits, rolls back,
   * retries or changes a setting. Calls of this Transactor made inside join that transaction.
   *
   * @throws TransactionDoomed if one of those calls failed and its exception was swallowed; the
   *     caller, who commits, must roll back
   * @throws IllegalStateException if the connection is in auto-commit mode
   */
  public <T> T on(Connection connection, TxWork<T> work) {
    Frame outer = current.get();
    try {
      if (connection.getAutoCommit()) {
        throw new IllegalStateException(
            "The connection is in auto-commit mode; begin a transaction first");
      }
      return inFrame(
          new Frame(Exchange.within(connection), null),
          exchange -> work.run(exchange.connection()));
    } catch (SQLException e) {
      throw translate(e, "on the caller's connection", isReadOnly(connection));
    } finally {
      restore(outer);
    }
  }

  /** As {@link #on}, without a result. */
  public void runOn(Connection connection, TxAction action) {
    on(connection, asWork(action));
  }

  private <T, R> R fresh(
      TxOptions options,
      ExchangeWork<T> work,
      @Nullable EffectLookup<T> lookup,
      Past.Telling<T, R> telling) {
    ExchangeWork<T> framed = exchange -> inFrame(new Frame(exchange, options), work);
    return new Attempts<>(connections, options, listener, watch, framed, lookup, telling).run();
  }

  private <T> T inFrame(Frame frame, ExchangeWork<T> work) throws SQLException {
    current.set(frame);
    try {
      T result = work.run(frame.exchange);
      if (frame.doom != null) {
        throw new TransactionDoomed(
            "A joined call failed, so the whole transaction must be rolled back", frame.doom);
      }
      frame.runLast();
      return result;
    } finally {
      current.remove();
    }
  }

  private static <T> T join(Frame frame, TxOptions options, TxWork<T> work) {
    try {
      requireCompatible(frame, options);
      return work.run(frame.exchange.connection());
    } catch (SQLException e) {
      frame.doom(e);
      throw translate(e, options.label(), frame.isReadOnly());
    } catch (Throwable e) {
      frame.doom(e);
      throw e;
    }
  }

  private static void requireCompatible(Frame frame, TxOptions inner) throws SQLException {
    TxOptions outer = frame.options;
    if (outer != null && outer.readOnly() && !inner.readOnly()) {
      throw new IllegalStateException(
          "'" + inner.label() + "' writes, but joins read-only '" + outer.label() + "'");
    }
    if (inner.isolation() == Isolation.READ_COMMITTED) {
      return;
    }
    Isolation actual =
        outer != null
            ? outer.isolation()
            : switch (frame.exchange.connection().getTransactionIsolation()) {
              case Connection.TRANSACTION_SERIALIZABLE -> Isolation.SERIALIZABLE;
              case Connection.TRANSACTION_REPEATABLE_READ -> Isolation.REPEATABLE_READ;
              default -> Isolation.READ_COMMITTED;
            };
    if (inner.isolation().compareTo(actual) > 0) {
      throw new IllegalStateException(
          "'" + inner.label() + "' needs " + inner.isolation() + ", but joins " + actual);
    }
  }

  private void restore(@Nullable Frame outer) {
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
