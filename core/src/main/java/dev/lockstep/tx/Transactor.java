package dev.lockstep.tx;

import static java.util.Objects.requireNonNull;

import dev.lockstep.fault.LockstepException;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.sql.AttemptResult;
import dev.lockstep.sql.CallResult;
import dev.lockstep.sql.ClosingWork;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.ExchangeWork;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
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
 * {@link #withHost} makes a Transactor whose calls join the transactions of the application's
 * framework, which then commits.
 *
 * <p>The Transactor never ends a transaction it did not begin: it refuses a connection that the
 * DataSource hands out with a transaction in progress or with auto-commit off. For pools that run
 * with auto-commit off, see {@link #onManualCommitPool}. It refuses to write on a connection that
 * is read-only.
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
  private final Joins joins;
  private final Watch watch = new Watch();

  public Transactor(DataSource dataSource) {
    this(dataSource, TxOptions.DEFAULT, attempt -> {});
  }

  public Transactor(DataSource dataSource, TxOptions defaults, TxListener listener) {
    this(new Source(dataSource, false), defaults, listener, HostTransactions.NONE);
  }

  private Transactor(
      Source connections, TxOptions defaults, TxListener listener, HostTransactions hosts) {
    this.connections = connections;
    this.defaults = requireNonNull(defaults, "defaults is null; pass TxOptions.DEFAULT");
    this.listener = requireNonNull(listener, "listener is null; pass attempt -> {}");
    this.joins =
        new Joins(
            connections.dataSource(),
            requireNonNull(hosts, "hosts is null; pass HostTransactions.NONE"));
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
    return new Transactor(new Source(pool, true), defaults, listener, HostTransactions.NONE);
  }

  /**
   * Returns a Transactor that joins the transactions of the application's framework. While the
   * framework has one under way on the calling thread, {@link #call} and {@link #run} work on its
   * connection: no BEGIN, no settings, no COMMIT and no retry of ours. If the work fails, the
   * framework's transaction cannot commit any more. Elsewhere nothing changes.
   *
   * <p>A call that must commit by itself is refused there: one with a lookup, {@code Once.call},
   * and the {@code submit} and {@code call} of holds, ledger and combiner.
   */
  public Transactor withHost(HostTransactions hosts) {
    return new Transactor(connections, defaults, listener, hosts);
  }

  /** The options of calls that pass none. */
  public TxOptions defaults() {
    return defaults;
  }

  /**
   * Whether this thread is in a transaction that a call would join: this Transactor's own, the
   * caller's, or the host's.
   */
  public boolean inTransaction() {
    HostTransaction host = joins.host();
    return host != null || joins.current(host) != null;
  }

  /**
   * For Lockstep's own blocks: refuses a call that commits by itself while the framework has a
   * transaction under way on this thread. It would not see that transaction's writes, would outlive
   * its rollback, and could wait for its locks for ever.
   *
   * @param call what was called
   * @param onConnection what does the same in the caller's transaction
   */
  public void requireOutsideHost(String call, String onConnection) {
    if (joins.host() != null) {
      throw new IllegalStateException(
          call
              + " commits by itself, but the application's framework has a transaction under way on"
              + " this thread and will end it; use "
              + onConnection
              + ", or call it outside the transaction");
    }
  }

  /**
   * For Lockstep's own blocks: runs an action once this thread's transaction has committed. An
   * action that is given several times runs once.
   *
   * @return false, and nothing runs, if the caller commits out of our sight
   */
  public boolean afterCommit(Runnable action) {
    HostTransaction host = joins.host();
    CurrentTransaction transaction = joins.current(host);
    if (host != null) {
      host.afterCommit(action);
      return true;
    }
    if (transaction == null || transaction.options == null) {
      return false;
    }
    transaction.afterCommit(action);
    return true;
  }

  /**
   * For Lockstep's own blocks: whether this thread is in a transaction that runs with {@link
   * TxOptions#indexLookups()}.
   */
  public boolean plansIndexLookups() {
    CurrentTransaction transaction = joins.current(joins.host());
    return transaction != null && transaction.options != null && transaction.options.indexLookups();
  }

  public <T> T call(TxWork<T> work) {
    return call(defaults, work);
  }

  public <T> T call(TxOptions options, TxWork<T> work) {
    requireNonNull(options, "options is null; pass defaults()");
    requireNonNull(work, "work is null");
    HostTransaction host = joins.host();
    CurrentTransaction transaction = joins.current(host);
    if (transaction != null) {
      return Joins.joinCurrent(transaction, options, work);
    }
    return host == null
        ? fresh(options, exchange -> joins.shared(work), null, EarlierAttempts.Report.whole())
        : joins.joinHost(host, options, work);
  }

  /**
   * As {@link #call(TxOptions, TxWork)}, and settles a connection lost during COMMIT: if the lookup
   * finds the effect, its result is returned; if not, the transaction runs again.
   *
   * @throws IllegalStateException inside another transaction, because the outermost call commits
   */
  public <T> T call(TxOptions options, TxWork<T> work, EffectLookup<T> lookup) {
    requireNonNull(work, "work is null");
    requireNonNull(lookup, "lookup is null; leave it out to have none");
    requireOutermost(options);
    return fresh(options, exchange -> joins.shared(work), lookup, EarlierAttempts.Report.whole());
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
    requireNonNull(options, "options is null; pass defaults()");
    requireOutsideHost(
        "'" + options.label() + "'", "its form that takes a connection or has no lookup");
    if (joins.current(null) != null) {
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
    call(options, asWork(requireNonNull(action, "action is null")));
  }

  /**
   * Runs work in a savepoint of this thread's transaction; if it throws, only its changes are
   * undone. A serialization failure or a deadlock still dooms the whole transaction, which then
   * runs again: rolling back to a savepoint does not renew an old snapshot.
   *
   * @throws IllegalStateException outside a transaction
   */
  public <T> T nested(TxWork<T> work) {
    requireNonNull(work, "work is null");
    CurrentTransaction transaction = joins.current(joins.host());
    if (transaction == null) {
      throw new IllegalStateException(
          "nested() runs inside a transaction only; wrap it in call() or run()");
    }
    return Joins.nested(transaction, work);
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
   * <p>Items handed over in a {@link #nested} that throws are dropped. Inside {@link #join}, and in
   * a host's transaction, the work runs when the outermost call returns: others send COMMIT.
   *
   * @param work the same object every time
   * @throws IllegalStateException outside a transaction
   */
  @SuppressWarnings("exports")
  public <T> void beforeCommit(ClosingWork<T> work, T item) {
    HostTransaction host = joins.host();
    CurrentTransaction transaction = joins.current(host);
    if (transaction == null && host != null) {
      run(TxOptions.DEFAULT, connection -> beforeCommit(work, item));
      return;
    }
    if (transaction == null) {
      throw new IllegalStateException(
          "beforeCommit() runs inside a transaction only; wrap it in call() or run()");
    }
    transaction.beforeCommit(work, item);
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
    requireNonNull(connection, "connection is null; pass that of your transaction");
    requireNonNull(work, "work is null");
    return joins.joinOn(connection, joins.host(), "on the caller's connection", work);
  }

  /** As {@link #join}, without a result. */
  public void runJoined(Connection connection, TxAction action) {
    join(connection, asWork(requireNonNull(action, "action is null")));
  }

  private <T, R> R fresh(
      TxOptions options,
      ExchangeWork<T> work,
      @Nullable EffectLookup<T> lookup,
      EarlierAttempts.Report<T, R> report) {
    AtomicReference<@Nullable CurrentTransaction> last = new AtomicReference<>();
    ExchangeWork<T> tracked =
        exchange -> {
          CurrentTransaction own = CurrentTransaction.own(exchange, options);
          last.set(own);
          try {
            return joins.runIn(own, work);
          } catch (Throwable e) {
            own.ended(SharedTransaction.Ending.ROLLED_BACK);
            throw e;
          }
        };
    R result = new Attempts<>(connections, options, listener, watch, tracked, lookup, report).run();
    requireNonNull(last.get(), "no attempt").committed();
    return result;
  }

  private static TxWork<Optional<Void>> asWork(TxAction action) {
    return connection -> {
      action.run(connection);
      return Optional.empty();
    };
  }
}
