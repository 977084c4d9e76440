package dev.lockstep.spring.boot;

import dev.lockstep.hold.Holds;
import dev.lockstep.hold.HoldsConfig;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.JobsConfig;
import dev.lockstep.job.Recurrence;
import dev.lockstep.job.Schedules;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerConfig;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceConfig;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.OutboxConfig;
import dev.lockstep.spring.Idempotent;
import dev.lockstep.spring.IdempotentInterceptor;
import dev.lockstep.spring.JsonCodec;
import dev.lockstep.spring.PlainConnections;
import dev.lockstep.spring.RecurringSchedules;
import dev.lockstep.spring.Retrying;
import dev.lockstep.spring.RetryingInterceptor;
import dev.lockstep.spring.SchemaSetup;
import dev.lockstep.spring.SpringHostTransactions;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxListener;
import dev.lockstep.tx.TxOptions;
import java.util.function.Function;
import javax.sql.DataSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.transaction.PlatformTransactionManager;

/** The blocks as beans, on the application's DataSource and in Spring's transactions. */
@AutoConfiguration(after = {DataSourceAutoConfiguration.class, TransactionAutoConfiguration.class})
@ConditionalOnSingleCandidate(DataSource.class)
@ConditionalOnProperty(prefix = "lockstep", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(LockstepProperties.class)
public class LockstepAutoConfiguration {
  // Inside it, the advice of @Transactional would begin the transaction first.
  private static final int OUTSIDE_TRANSACTIONS = Ordered.LOWEST_PRECEDENCE - 10;

  @Bean
  @ConditionalOnMissingBean
  SpringHostTransactions lockstepHostTransactions(DataSource dataSource) {
    return new SpringHostTransactions(dataSource);
  }

  /** After the application's own migrations, which may create the schema. */
  @Bean
  @ConditionalOnMissingBean
  @DependsOnDatabaseInitialization
  SchemaSetup lockstepSchema(DataSource dataSource, LockstepProperties properties) {
    return new SchemaSetup(dataSource, properties.schema().migrations());
  }

  @Bean
  @ConditionalOnMissingBean
  TxOptions lockstepTxOptions(LockstepProperties properties) {
    LockstepProperties.Tx tx = properties.tx();
    return TxOptions.DEFAULT
        .withStatementTimeout(tx.statementTimeout())
        .withLockTimeout(tx.lockTimeout())
        .withIdleTimeout(tx.idleTimeout())
        .withDeadline(tx.deadline());
  }

  @Bean
  @ConditionalOnMissingBean
  Transactor lockstepTransactor(
      DataSource dataSource,
      TxOptions options,
      ObjectProvider<TxListener> listener,
      SpringHostTransactions hosts,
      SchemaSetup schema) {
    return new Transactor(
            new PlainConnections(dataSource), options, listener.getIfAvailable(() -> attempt -> {}))
        .withHost(hosts);
  }

  @Bean
  @ConditionalOnMissingBean
  HoldsConfig lockstepHoldsConfig() {
    return HoldsConfig.DEFAULT;
  }

  @Bean
  @ConditionalOnMissingBean
  Holds lockstepHolds(Transactor transactor, HoldsConfig config) {
    return new Holds(transactor, config);
  }

  @Bean
  @ConditionalOnMissingBean
  LedgerConfig lockstepLedgerConfig() {
    return LedgerConfig.DEFAULT;
  }

  @Bean
  @ConditionalOnMissingBean
  Ledger lockstepLedger(Transactor transactor, LedgerConfig config) {
    return new Ledger(transactor, config);
  }

  @Bean
  @ConditionalOnMissingBean
  OnceConfig lockstepOnceConfig(LockstepProperties properties) {
    return OnceConfig.DEFAULT.withKeepFor(properties.once().keepFor());
  }

  @Bean
  @ConditionalOnMissingBean
  Once lockstepOnce(Transactor transactor, OnceConfig config) {
    return new Once(transactor, config);
  }

  @Bean
  @ConditionalOnMissingBean
  JobsConfig lockstepJobsConfig(LockstepProperties properties) {
    return JobsConfig.DEFAULT
        .withShards(properties.jobs().shards())
        .withHistoryDays(properties.jobs().historyDays());
  }

  @Bean
  @ConditionalOnMissingBean
  Jobs lockstepJobs(Transactor transactor, JobsConfig config) {
    return new Jobs(transactor, config);
  }

  /** Reads the specs of recurring methods; an application with others makes its own bean. */
  @Bean
  @ConditionalOnMissingBean
  Schedules lockstepSchedules(Jobs jobs) {
    Function<String, Recurrence> none =
        spec -> {
          throw new IllegalArgumentException(
              "Nothing reads the spec '"
                  + spec
                  + "'; make a bean jobs.schedules(RecurringSchedules.reader(yours))");
        };
    return jobs.schedules(RecurringSchedules.reader(none));
  }

  @Bean
  @ConditionalOnMissingBean
  OutboxConfig lockstepOutboxConfig(LockstepProperties properties) {
    return OutboxConfig.DEFAULT.withPartitions(properties.outbox().partitions());
  }

  @Bean
  @ConditionalOnMissingBean
  Outbox lockstepOutbox(Transactor transactor, OutboxConfig config) {
    return new Outbox(transactor, config);
  }

  /** As for {@link Retrying}, and inside it. */
  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static Advisor lockstepIdempotentAdvisor(
      ObjectProvider<Transactor> transactor,
      ObjectProvider<Once> once,
      ObjectProvider<PlatformTransactionManager> transactions,
      ObjectProvider<JsonCodec> json) {
    DefaultPointcutAdvisor advisor =
        new DefaultPointcutAdvisor(
            AnnotationMatchingPointcut.forMethodAnnotation(Idempotent.class),
            new IdempotentInterceptor(
                transactor::getObject,
                once::getObject,
                transactions::getObject,
                () -> json.getIfAvailable(JsonCodec::none)));
    advisor.setOrder(OUTSIDE_TRANSACTIONS + 1);
    return advisor;
  }

  /** An infrastructure bean, so that the proxies for transactions apply it, too. */
  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static Advisor lockstepRetryingAdvisor(
      ObjectProvider<DataSource> dataSource,
      ObjectProvider<PlatformTransactionManager> transactions) {
    DefaultPointcutAdvisor advisor =
        new DefaultPointcutAdvisor(
            AnnotationMatchingPointcut.forMethodAnnotation(Retrying.class),
            new RetryingInterceptor(dataSource::getObject, transactions::getObject));
    advisor.setOrder(OUTSIDE_TRANSACTIONS);
    return advisor;
  }
}
