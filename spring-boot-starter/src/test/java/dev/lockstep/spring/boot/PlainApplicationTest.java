package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.NewPool;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.job.JobContext;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.NewJob;
import dev.lockstep.migration.SchemaMismatch;
import dev.lockstep.spring.JobHandler;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.JdbcTemplateAutoConfiguration;
import org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration;
import org.springframework.boot.autoconfigure.transaction.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Applications with plain JDBC, and those that do not start. */
class PlainApplicationTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension static final TestDatabase empty = TestDatabase.empty();

  private static ApplicationContextRunner on(TestDatabase chosen) {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                DataSourceAutoConfiguration.class,
                DataSourceTransactionManagerAutoConfiguration.class,
                JdbcTemplateAutoConfiguration.class,
                TransactionAutoConfiguration.class,
                TransactionManagerCustomizationAutoConfiguration.class,
                LockstepAutoConfiguration.class,
                LockstepRuntimeAutoConfiguration.class))
        .withPropertyValues(
            "spring.datasource.url=" + chosen.url(),
            "spring.datasource.username=" + chosen.user(),
            "spring.datasource.password=" + chosen.password());
  }

  @Test
  void aPoolOfOneConnectionDoesNotDeadlock() {
    on(database)
        .withPropertyValues(
            "spring.datasource.hikari.maximum-pool-size=1",
            "spring.datasource.hikari.connection-timeout=5000",
            // Only what the test does.
            "lockstep.holds.sweep-interval=0",
            "lockstep.ledger.sweep-interval=0",
            "lockstep.once.remove-interval=0")
        .run(
            context -> {
              Holds holds = context.getBean(Holds.class);
              Transactor transactor = context.getBean(Transactor.class);
              JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
              new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                  .executeWithoutResult(
                      status -> {
                        jdbc.execute("CREATE TABLE one (n int)");
                        holds.createScope(new ScopeId(1), OptionalInt.empty());
                        holds.createPools(
                            new ScopeId(1), List.of(NewPool.counted(new PoolId(1), 5)));
                        transactor.run(c -> jdbc.update("INSERT INTO one VALUES (1)"));
                      });

              assertThat(holds.pools(new ScopeId(1))).hasSize(1);
              assertThat(jdbc.queryForObject("SELECT count(*) FROM one", Long.class)).isEqualTo(1);
            });
  }

  /** The other direction: code of Spring's inside a transaction of the Transactor's. */
  @Test
  void jdbcCodeJoinsATransactionThatTheTransactorBegan() {
    on(database)
        .withPropertyValues("spring.datasource.hikari.maximum-pool-size=1")
        .run(
            context -> {
              Transactor transactor = context.getBean(Transactor.class);
              JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
              TransactionTemplate template =
                  new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
              jdbc.execute("CREATE TABLE two (n int)");
              List<String> after = new ArrayList<>();

              transactor.run(
                  c -> {
                    jdbc.update("INSERT INTO two VALUES (1)");
                    template.executeWithoutResult(
                        status -> jdbc.update("INSERT INTO two VALUES (2)"));
                    TransactionSynchronizationManager.registerSynchronization(
                        new TransactionSynchronization() {
                          @Override
                          public void afterCommit() {
                            after.add("committed");
                          }
                        });
                    assertThat(after).isEmpty();
                  });
              assertThat(after).containsExactly("committed");
              assertThat(rows(jdbc)).isEqualTo(2);

              assertThatThrownBy(
                      () ->
                          transactor.run(
                              c -> {
                                jdbc.update("INSERT INTO two VALUES (3)");
                                template.executeWithoutResult(status -> status.setRollbackOnly());
                              }))
                  .isInstanceOf(TransactionDoomed.class);
              assertThat(rows(jdbc)).isEqualTo(2);
            });
  }

  private static long rows(JdbcTemplate jdbc) {
    return Objects.requireNonNull(jdbc.queryForObject("SELECT count(*) FROM two", Long.class));
  }

  @Test
  void aPoolWithoutAutoCommitIsFine() {
    on(database)
        .withPropertyValues("spring.datasource.hikari.auto-commit=false")
        .run(
            context -> {
              Jobs jobs = context.getBean(Jobs.class);
              context
                  .getBean(Transactor.class)
                  .run(c -> jobs.enqueue(c, NewJob.of("nobody's", "kind", "{}")));

              assertThat(
                      database.queryLong(
                          "SELECT count(*) FROM lockstep.job WHERE queue = 'nobody''s'"))
                  .isEqualTo(1);
            });
  }

  @Test
  void theApplicationsOwnBeansComeFirst() {
    on(database)
        .withUserConfiguration(OwnJobs.class)
        .run(
            context ->
                assertThat(context.getBean(Jobs.class)).isSameAs(context.getBean("ownJobs")));
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnJobs {
    @Bean
    Jobs ownJobs(Transactor transactor) {
      return new Jobs(transactor);
    }
  }

  /** Each handles one job that waits until the other node has one, too. */
  static class Meeting {
    static final CountDownLatch met = new CountDownLatch(2);

    @JobHandler(value = "meet", queue = "meetings")
    void meet(JobContext job) throws InterruptedException {
      met.countDown();
      if (!met.await(30, TimeUnit.SECONDS)) {
        throw new IllegalStateException("The other node never ran a job");
      }
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Meetings {
    @Bean
    Meeting meeting() {
      return new Meeting();
    }
  }

  @Test
  void twoNodesOnOneDatabaseBothGetWork() {
    ApplicationContextRunner node =
        on(database)
            .withUserConfiguration(Meetings.class)
            .withPropertyValues(
                "lockstep.jobs.queues.meetings.concurrency=1",
                "lockstep.jobs.lease=2s",
                "lockstep.jobs.poll-interval=20ms");
    node.run(
        first ->
            node.run(
                second -> {
                  Jobs jobs = first.getBean(Jobs.class);
                  List<NewJob> some =
                      Collections.nCopies(64, NewJob.of("meetings", "meet", "null"));
                  first.getBean(Transactor.class).run(c -> jobs.enqueueAll(c, some));

                  assertThat(Meeting.met.await(30, TimeUnit.SECONDS)).isTrue();
                }));
  }

  @Test
  void aMissingSchemaIsExplained() {
    on(empty)
        .withPropertyValues("lockstep.schema.migrations=verify")
        .run(
            context -> {
              Throwable failure = context.getStartupFailure();
              assertThat(failure).rootCause().isInstanceOf(SchemaMismatch.class);
              assertThat(new SchemaMismatchAnalyzer().analyze(failure))
                  .satisfies(
                      analysis -> {
                        assertThat(analysis.getDescription()).contains("no tables of Lockstep");
                        assertThat(analysis.getAction()).contains("lockstep.schema.migrations");
                      });
            });
  }

  @Test
  void itCanBeTurnedOff() {
    on(empty)
        .withPropertyValues("lockstep.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(Transactor.class));
  }

  static class ReadOnlyHandler {
    @JobHandler("kind")
    @Transactional(readOnly = true)
    void handle() {}
  }

  @Test
  void aHandlerThatCouldNotCompleteItsJobIsRefusedAtTheStart() {
    on(database)
        .withBean(ReadOnlyHandler.class)
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessageContaining("ReadOnlyHandler.handle"));
  }
}
