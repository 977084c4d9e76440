package dev.lockstep.spring.boot;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.lockstep.hold.Holds;
import dev.lockstep.job.Handlers;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.job.Schedules;
import dev.lockstep.job.WorkerConfig;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.once.Once;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.outbox.RelayConfig;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.spring.Blocks;
import dev.lockstep.spring.JobMethods;
import dev.lockstep.spring.JsonCodec;
import dev.lockstep.spring.LockstepRuntime;
import dev.lockstep.spring.RuntimeConfig;
import dev.lockstep.spring.SinkMethods;
import dev.lockstep.spring.SpringHostTransactions;
import dev.lockstep.tx.Transactor;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;

/** The worker, the relay and the sweepers of a node, and the methods that they call. */
@AutoConfiguration(after = {LockstepAutoConfiguration.class, JacksonAutoConfiguration.class})
@ConditionalOnBean(LockstepAutoConfiguration.class)
public class LockstepRuntimeAutoConfiguration {
  private static final int MAX_NODE_LENGTH = 100;

  /** What a node is called if nobody gave it a name. */
  static String node(LockstepProperties properties, Environment environment) {
    if (properties.node() != null) {
      return properties.node();
    }
    String host;
    try {
      host = InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      host = "unknown";
    }
    String name =
        "%s@%s/%d"
            .formatted(
                environment.getProperty("spring.application.name", "application"),
                host,
                ProcessHandle.current().pid());
    return name.substring(0, Math.min(MAX_NODE_LENGTH, name.length()));
  }

  /** Connections for notifications, outside the pool; empty if only a pool is known. */
  private static Optional<DataSource> listening(
      LockstepProperties properties, ObjectProvider<JdbcConnectionDetails> details) {
    return properties.listen()
        ? Optional.ofNullable(details.getIfAvailable())
            .map(
                one ->
                    new DriverManagerDataSource(
                        one.getJdbcUrl(), one.getUsername(), one.getPassword()))
        : Optional.empty();
  }

  @Bean
  @ConditionalOnMissingBean
  WorkerConfig lockstepWorkerConfig(
      LockstepProperties properties,
      Environment environment,
      ObjectProvider<JdbcConnectionDetails> details) {
    LockstepProperties.Jobs jobs = properties.jobs();
    WorkerConfig config =
        WorkerConfig.named(node(properties, environment))
            .withLease(jobs.lease(), jobs.lease().dividedBy(4))
            .withPollInterval(jobs.pollInterval())
            .withStopTimeout(jobs.stopTimeout());
    for (Map.Entry<String, LockstepProperties.Queue> queue : jobs.queues().entrySet()) {
      config =
          config.withQueue(
              QueueConfig.of(queue.getKey(), queue.getValue().concurrency())
                  .withBackoff(queue.getValue().firstBackoff(), queue.getValue().maxBackoff()));
    }
    return listening(properties, details).map(config::withListen).orElse(config);
  }

  @Bean
  @ConditionalOnMissingBean
  RelayConfig lockstepRelayConfig(
      LockstepProperties properties,
      Environment environment,
      ObjectProvider<JdbcConnectionDetails> details) {
    RelayConfig config = RelayConfig.named(node(properties, environment));
    return listening(properties, details).map(config::withListen).orElse(config);
  }

  @Bean
  @ConditionalOnMissingBean
  RuntimeConfig lockstepRuntimeConfig(
      LockstepProperties properties,
      WorkerConfig worker,
      ObjectProvider<Handlers> handlers,
      RelayConfig relay,
      ObjectProvider<SinkTypes> sinkTypes) {
    return new RuntimeConfig(
        properties.jobs().enabled(),
        worker,
        handlers.getIfAvailable(Handlers::none),
        QueueConfig.of("default", properties.jobs().concurrency()),
        properties.outbox().relay(),
        relay,
        sinkTypes.getIfAvailable(SinkTypes::standard),
        properties.outbox().streams(),
        properties.holds().sweepInterval(),
        properties.ledger().sweepInterval(),
        properties.once().removeInterval());
  }

  @Bean
  @ConditionalOnMissingBean
  JobMethods lockstepJobMethods(
      ConfigurableListableBeanFactory beans,
      DataSource dataSource,
      Transactor transactor,
      SpringHostTransactions hosts,
      ObjectProvider<PlatformTransactionManager> transactions,
      ObjectProvider<JsonCodec> payloads) {
    return new JobMethods(
        beans,
        dataSource,
        transactor,
        hosts,
        transactions::getObject,
        payloads.getIfAvailable(JsonCodec::none));
  }

  @Bean
  @ConditionalOnMissingBean
  SinkMethods lockstepSinkMethods(ConfigurableListableBeanFactory beans) {
    return new SinkMethods(beans);
  }

  @Bean
  @ConditionalOnMissingBean
  LockstepRuntime lockstepRuntime(
      Transactor transactor,
      Holds holds,
      Once once,
      Jobs jobs,
      Schedules schedules,
      Outbox outbox,
      Ledger ledger,
      JobMethods jobMethods,
      SinkMethods sinkMethods,
      RuntimeConfig config) {
    return new LockstepRuntime(
        new Blocks(transactor, holds, once, jobs, schedules, outbox, ledger),
        jobMethods,
        sinkMethods,
        config);
  }

  /** JSON by Jackson. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ObjectMapper.class)
  static class Jackson {
    @Bean
    @ConditionalOnMissingBean
    JsonCodec lockstepJsonCodec(ObjectProvider<ObjectMapper> mappers) {
      return new JacksonCodec(
          mappers.getIfAvailable(() -> JsonMapper.builder().findAndAddModules().build()));
    }
  }
}
