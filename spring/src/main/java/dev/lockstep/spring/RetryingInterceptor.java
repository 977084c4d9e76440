package dev.lockstep.spring;

import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.tx.RetryPolicy;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Runs {@link Retrying} methods in transactions that are run again after a conflict. */
public final class RetryingInterceptor implements MethodInterceptor {
  private final Supplier<DataSource> dataSource;
  private final Supplier<PlatformTransactionManager> transactions;

  public RetryingInterceptor(
      Supplier<DataSource> dataSource, Supplier<PlatformTransactionManager> transactions) {
    this.dataSource = dataSource;
    this.transactions = transactions;
  }

  @Override
  public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
    // Only the whole can run again, and this is a part of it.
    if (TransactionSynchronizationManager.isActualTransactionActive()
        || OwnTransaction.isUnderWay()) {
      return invocation.proceed();
    }
    Retrying retrying = annotation(invocation);
    RetryPolicy policy =
        new RetryPolicy(
            retrying.maxAttempts(),
            RetryPolicy.DEFAULT.firstBackoff(),
            RetryPolicy.DEFAULT.maxBackoff());
    for (int number = 1; ; number++) {
      Attempt attempt = new Attempt(invocation, retrying);
      try {
        return attempt.run();
      } catch (Throwable e) {
        Throwable thrown = e instanceof Thrown wrapped ? wrapped.thrown : e;
        if (attempt.committed) {
          // A callback failed after the commit.
          throw thrown;
        }
        SqlFault fault = SqlFault.behind(thrown).orElse(null);
        if (attempt.returned && isInDoubt(thrown)) {
          throw new OutcomeUnknown(
              invocation.getMethod().getName()
                  + ": the connection may have been lost during COMMIT; look the effect up",
              thrown);
        }
        if (fault == null
            || !fault.retryable()
            || number >= policy.maxAttempts()
            || Thread.currentThread().isInterrupted()) {
          throw thrown;
        }
        LockSupport.parkNanos(this, policy.backoffAfter(number).toNanos());
      }
    }
  }

  /** Whether COMMIT failed in a way that does not prove a rollback. */
  private static boolean isInDoubt(Throwable thrown) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof TransactionDoomed) {
        return false;
      }
      if (t instanceof SQLException e) {
        return !SqlFault.serverRolledBack(e);
      }
    }
    return false;
  }

  private static Retrying annotation(MethodInvocation invocation) {
    Object target = Objects.requireNonNull(invocation.getThis());
    Method method = AopUtils.getMostSpecificMethod(invocation.getMethod(), target.getClass());
    return Optional.ofNullable(AnnotatedElementUtils.findMergedAnnotation(method, Retrying.class))
        .orElseThrow();
  }

  /** Carries what the method threw out of the template. */
  private static final class Thrown extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final Throwable thrown;

    Thrown(Throwable thrown) {
      super(thrown);
      this.thrown = thrown;
    }
  }

  private final class Attempt implements TransactionSynchronization {
    private final MethodInvocation invocation;
    private final Retrying retrying;
    // From here on only callbacks of the transaction and COMMIT can fail.
    private boolean returned;
    private boolean committed;

    Attempt(MethodInvocation invocation, Retrying retrying) {
      this.invocation = invocation;
      this.retrying = retrying;
    }

    /** Before any other callback, which may fail. */
    @Override
    public int getOrder() {
      return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public void afterCommit() {
      committed = true;
    }

    @Nullable Object run() {
      DefaultTransactionDefinition definition =
          new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRED);
      definition.setIsolationLevel(retrying.isolation().value());
      return new TransactionTemplate(transactions.get(), definition)
          .execute(
              status -> {
                Object result;
                TransactionSynchronizationManager.registerSynchronization(this);
                try {
                  limitLockWaits();
                  result =
                      invocation instanceof ProxyMethodInvocation proxied
                          ? proxied.invocableClone().proceed()
                          : invocation.proceed();
                  status.flush();
                } catch (Throwable e) {
                  throw new Thrown(e);
                }
                returned = true;
                return result;
              });
    }

    private void limitLockWaits() throws SQLException {
      if (retrying.lockTimeoutMs() <= 0) {
        return;
      }
      DataSource source = SpringHostTransactions.target(dataSource.get());
      Connection connection = DataSourceUtils.getConnection(source);
      try (PreparedStatement statement =
          connection.prepareStatement("SELECT set_config('lock_timeout', ?, true)")) {
        statement.setString(1, String.valueOf(retrying.lockTimeoutMs()));
        statement.execute();
      } finally {
        DataSourceUtils.releaseConnection(connection, source);
      }
    }
  }
}
