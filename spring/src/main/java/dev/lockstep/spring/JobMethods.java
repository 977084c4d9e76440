package dev.lockstep.spring;

import dev.lockstep.job.Handlers;
import dev.lockstep.job.JobContext;
import dev.lockstep.job.Outcome;
import dev.lockstep.tx.HostTransactions;
import dev.lockstep.tx.Transactor;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The methods that run jobs. Each runs in one transaction of Spring's, in which its job is
 * completed. Thread-safe.
 */
public final class JobMethods {
  private final ConfigurableListableBeanFactory beans;
  private final DataSource dataSource;
  private final Transactor transactor;
  private final HostTransactions hosts;
  private final Supplier<PlatformTransactionManager> transactions;
  private final JsonCodec payloads;

  /**
   * @param transactor joins {@code hosts}
   * @param transactions the manager of the DataSource's transactions
   */
  public JobMethods(
      ConfigurableListableBeanFactory beans,
      DataSource dataSource,
      Transactor transactor,
      HostTransactions hosts,
      Supplier<PlatformTransactionManager> transactions,
      JsonCodec payloads) {
    this.beans = beans;
    this.dataSource = dataSource;
    this.transactor = transactor;
    this.hosts = hosts;
    this.transactions = transactions;
    this.payloads = payloads;
  }

  /** Makes a handler of each method with {@link JobHandler} or {@link Recurring}. */
  Handlers handlers(Handlers handlers) {
    Handlers all = handlers;
    for (BeanMethod<JobHandler> method : BeanMethod.annotated(beans, JobHandler.class)) {
      all = all.on(method.annotation().value(), handler(method));
    }
    for (BeanMethod<Recurring> method : recurring()) {
      all = all.on(method.annotation().name(), handler(method));
    }
    return all;
  }

  List<BeanMethod<Recurring>> recurring() {
    return BeanMethod.annotated(beans, Recurring.class);
  }

  /** The queues that the methods' jobs are in. */
  Set<String> queues() {
    Set<String> queues = new LinkedHashSet<>();
    BeanMethod.annotated(beans, JobHandler.class)
        .forEach(method -> queues.add(method.annotation().queue()));
    recurring().forEach(method -> queues.add(method.annotation().queue()));
    return queues;
  }

  private dev.lockstep.job.JobHandler<String> handler(BeanMethod<? extends Annotation> method) {
    requireOutcome(method);
    TransactionDefinition definition = definition(method);
    Type[] parameters = method.declared().getGenericParameterTypes();
    return (payload, job) -> {
      @Nullable Object[] arguments = new @Nullable Object[parameters.length];
      for (int i = 0; i < arguments.length; i++) {
        arguments[i] = argument(parameters[i], job);
      }
      return inTransaction(definition, job, () -> method.invoke(arguments));
    };
  }

  private @Nullable Object argument(Type type, JobContext job) throws Exception {
    if (type == JobContext.class) {
      return job;
    }
    return type == String.class ? job.payload() : payloads.read(job.payload(), type);
  }

  private static void requireOutcome(BeanMethod<?> method) {
    Class<?> returned = method.declared().getReturnType();
    if (returned != void.class && !Outcome.class.isAssignableFrom(returned)) {
      throw new IllegalStateException(
          method
              + " runs jobs, so it must return nothing or an Outcome, not "
              + returned.getName());
    }
  }

  /** The method's own wishes for its transaction. */
  private static TransactionDefinition definition(BeanMethod<?> method) {
    TransactionAttribute wished =
        new AnnotationTransactionAttributeSource(false)
            .getTransactionAttribute(method.declared(), method.type());
    if (wished == null) {
      return TransactionDefinition.withDefaults();
    }
    if (wished.getPropagationBehavior() != TransactionDefinition.PROPAGATION_REQUIRED
        || wished.isReadOnly()) {
      throw new IllegalStateException(
          method
              + " runs jobs in the transaction that completes them: its @Transactional may not be"
              + " read-only or choose a propagation");
    }
    return wished;
  }

  @FunctionalInterface
  private interface Call {
    @Nullable Object run() throws Exception;
  }

  /** Carries a checked exception out of the template. */
  private static final class Failed extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final Exception thrown;

    Failed(Exception thrown) {
      super(thrown);
      this.thrown = thrown;
    }
  }

  private Outcome inTransaction(TransactionDefinition definition, JobContext job, Call call)
      throws Exception {
    try {
      Outcome outcome =
          new TransactionTemplate(transactions.get(), definition)
              .execute(status -> complete(status, job, call));
      return outcome == null ? Outcome.done() : outcome;
    } catch (Failed e) {
      throw e.thrown;
    }
  }

  private Outcome complete(TransactionStatus status, JobContext job, Call call) {
    try {
      Object returned = call.run();
      if (returned instanceof Outcome outcome && !(outcome instanceof Outcome.Done)) {
        status.setRollbackOnly();
        return outcome;
      }
      if (returned instanceof Outcome.Done done && done.effects().isPresent()) {
        transactor.run(done.effects().get());
      }
      // What JPA holds back comes before the job, which is locked last.
      status.flush();
      job.complete(connection());
      return Outcome.done();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new Failed(e);
    }
  }

  private Connection connection() throws SQLException {
    return hosts
        .current(dataSource)
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "The transaction manager does not run its transactions on Lockstep's DataSource"))
        .connection();
  }
}
