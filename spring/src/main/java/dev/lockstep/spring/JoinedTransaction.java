package dev.lockstep.spring;

import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.tx.HostTransaction;
import java.sql.Connection;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A transaction of Spring's, bound to the thread for as long as it is the current one. Before the
 * commit it is checked twice: among the callbacks, and after all of them if the transaction manager
 * tells {@link SpringHostTransactions}.
 */
final class JoinedTransaction implements HostTransaction, TransactionSynchronization {
  private static final Logger log = LoggerFactory.getLogger(JoinedTransaction.class);

  private final Object key;
  private final DataSource dataSource;
  private final Set<Runnable> afterCommit = new LinkedHashSet<>();
  private final Deque<Savepoint> savepoints = new ArrayDeque<>();
  private @Nullable Throwable refused;
  private boolean ended;

  /** What held when a savepoint was set. */
  private record Savepoint(Object savepoint, @Nullable Throwable refused) {}

  private JoinedTransaction(Object key, DataSource dataSource) {
    this.key = key;
    this.dataSource = dataSource;
  }

  /** Binds the thread's transaction. */
  static JoinedTransaction register(Object key, DataSource dataSource) {
    JoinedTransaction joined = new JoinedTransaction(key, dataSource);
    TransactionSynchronizationManager.bindResource(key, joined);
    TransactionSynchronizationManager.registerSynchronization(joined);
    TransactionSynchronizationManager.registerSynchronization(joined.new End());
    return joined;
  }

  /** False in the callbacks that run after the commit, when what is written would be lost. */
  boolean isUnderWay() {
    return !ended;
  }

  @Override
  public Connection connection() {
    Connection connection = DataSourceUtils.getConnection(dataSource);
    // It stays bound to the transaction; only the count of its users goes down.
    DataSourceUtils.releaseConnection(connection, dataSource);
    return connection;
  }

  @Override
  public void refuseCommit(Throwable because) {
    if (refused == null) {
      refused = because;
    }
  }

  @Override
  public void afterCommit(Runnable action) {
    afterCommit.add(action);
  }

  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }

  @Override
  public void suspend() {
    TransactionSynchronizationManager.unbindResource(key);
  }

  @Override
  public void resume() {
    TransactionSynchronizationManager.bindResource(key, this);
  }

  @Override
  public void savepoint(Object savepoint) {
    savepoints.push(new Savepoint(savepoint, refused));
  }

  /** Work that failed after the savepoint is undone with it. */
  @Override
  public void savepointRollback(Object savepoint) {
    savepoints.stream()
        .filter(one -> one.savepoint() == savepoint)
        .findFirst()
        .ifPresent(one -> refused = one.refused());
  }

  @Override
  public void beforeCommit(boolean readOnly) {
    requireCommit();
  }

  /**
   * @throws TransactionDoomed if work that joined has failed
   */
  void requireCommit() {
    if (refused != null) {
      throw new TransactionDoomed(
          "Work of Lockstep failed in this transaction and its exception was swallowed; the"
              + " transaction rolls back",
          refused);
    }
  }

  @Override
  public void afterCommit() {
    for (Runnable action : afterCommit) {
      try {
        action.run();
      } catch (RuntimeException e) {
        log.warn("An action after the commit failed; the transaction is committed", e);
      }
    }
  }

  @Override
  public void afterCompletion(int status) {
    ended = true;
    Object unused = TransactionSynchronizationManager.unbindResourceIfPossible(key);
  }

  /** Notices the commit before any other callback does. */
  private final class End implements TransactionSynchronization {
    @Override
    public int getOrder() {
      return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public void afterCommit() {
      ended = true;
    }
  }
}
