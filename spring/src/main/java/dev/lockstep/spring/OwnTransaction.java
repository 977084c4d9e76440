package dev.lockstep.spring;

import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.tx.SharedTransaction;
import java.sql.Connection;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;

/**
 * A transaction of a Transactor's, bound to the thread as Spring binds its own: {@code
 * JdbcTemplate} and {@code @Transactional} methods on JDBC join it, and callbacks after the commit
 * wait for its end.
 *
 * <p>It does not count as an actual transaction of Spring's: an {@code EntityManager} could then
 * hold writes back that nobody would ever flush.
 */
final class OwnTransaction implements SharedTransaction {
  private final DataSource dataSource;
  private final ConnectionHolder holder;
  private List<TransactionSynchronization> synchronizations = List.of();

  private OwnTransaction(DataSource dataSource, Connection connection) {
    this.dataSource = dataSource;
    this.holder = new ConnectionHolder(connection, true);
  }

  static SharedTransaction bind(DataSource dataSource, Connection connection) {
    if (TransactionSynchronizationManager.isSynchronizationActive()
        || TransactionSynchronizationManager.hasResource(dataSource)) {
      return SharedTransaction.NONE;
    }
    OwnTransaction own = new OwnTransaction(dataSource, connection);
    TransactionSynchronizationManager.bindResource(dataSource, own.holder);
    TransactionSynchronizationManager.bindResource(OwnTransaction.class, own);
    TransactionSynchronizationManager.initSynchronization();
    return own;
  }

  /** Whether the thread's transaction is one of a Transactor's. */
  static boolean isUnderWay() {
    return TransactionSynchronizationManager.hasResource(OwnTransaction.class);
  }

  @Override
  public void beforeCommit() {
    TransactionSynchronizationUtils.triggerBeforeCommit(false);
    if (holder.isRollbackOnly()) {
      throw new TransactionDoomed(
          "A method of Spring's failed in this transaction and its exception was swallowed; the"
              + " transaction rolls back",
          null);
    }
  }

  @Override
  public void leave() {
    TransactionSynchronizationUtils.triggerBeforeCompletion();
    synchronizations = TransactionSynchronizationManager.getSynchronizations();
    TransactionSynchronizationManager.clearSynchronization();
    Object unused = TransactionSynchronizationManager.unbindResource(dataSource);
    unused = TransactionSynchronizationManager.unbindResource(OwnTransaction.class);
  }

  @Override
  public void ended(Ending ending) {
    try {
      if (ending == Ending.COMMITTED) {
        TransactionSynchronizationUtils.invokeAfterCommit(synchronizations);
      }
    } finally {
      TransactionSynchronizationUtils.invokeAfterCompletion(
          synchronizations,
          switch (ending) {
            case COMMITTED -> TransactionSynchronization.STATUS_COMMITTED;
            case ROLLED_BACK -> TransactionSynchronization.STATUS_ROLLED_BACK;
            case UNKNOWN -> TransactionSynchronization.STATUS_UNKNOWN;
          });
    }
  }
}
