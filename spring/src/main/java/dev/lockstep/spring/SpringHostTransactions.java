package dev.lockstep.spring;

import dev.lockstep.tx.HostTransaction;
import dev.lockstep.tx.HostTransactions;
import dev.lockstep.tx.SharedTransaction;
import java.sql.Connection;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Lets a Transactor join the transactions that Spring runs for a DataSource: those of {@code
 * DataSourceTransactionManager}, {@code JdbcTransactionManager}, and of {@code
 * JpaTransactionManager} with a dialect that shows its JDBC connection, as Hibernate's does. A JTA
 * transaction is not joined.
 *
 * <p>Register it as a listener of the transaction manager, as Spring Boot does with a bean of this
 * type. Otherwise a first use in a callback after the commit would still count as part of the
 * transaction.
 *
 * <p>Thread-safe.
 */
public final class SpringHostTransactions
    implements HostTransactions, TransactionExecutionListener {
  private final DataSource dataSource;

  public SpringHostTransactions(DataSource dataSource) {
    this.dataSource = target(dataSource);
  }

  /** The DataSource that Spring binds transactions to. */
  static DataSource target(DataSource dataSource) {
    DataSource target =
        dataSource instanceof TransactionAwareDataSourceProxy proxy
            ? proxy.getTargetDataSource()
            : dataSource instanceof PlainConnections plain ? plain.getTargetDataSource() : null;
    return target == null ? dataSource : target(target);
  }

  @Override
  public Optional<HostTransaction> current(DataSource asked) {
    return target(asked) == dataSource
        ? Optional.ofNullable(joined())
            .filter(JoinedTransaction::isUnderWay)
            .map(HostTransaction.class::cast)
        : Optional.empty();
  }

  /** Lets JDBC code of Spring's join a transaction that a Transactor has begun. */
  @Override
  public SharedTransaction share(DataSource asked, Connection connection) {
    return target(asked) == dataSource
        ? OwnTransaction.bind(dataSource, connection)
        : SharedTransaction.NONE;
  }

  /** Notes each transaction at its begin, so that its end is noticed in time. */
  @Override
  public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
    if (failure == null) {
      JoinedTransaction unused = joined();
    }
  }

  /** A callback before the commit may have failed after the others were checked. */
  @Override
  public void beforeCommit(TransactionExecution transaction) {
    if (TransactionSynchronizationManager.getResource(this) instanceof JoinedTransaction known) {
      known.requireCommit();
    }
  }

  private @Nullable JoinedTransaction joined() {
    if (!TransactionSynchronizationManager.isSynchronizationActive()
        || !TransactionSynchronizationManager.isActualTransactionActive()
        || !TransactionSynchronizationManager.hasResource(dataSource)) {
      return null;
    }
    return TransactionSynchronizationManager.getResource(this) instanceof JoinedTransaction known
        ? known
        : JoinedTransaction.register(this, dataSource);
  }
}
