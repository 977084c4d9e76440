package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.NewPool;
import dev.lockstep.job.JobFilter;
import dev.lockstep.job.JobState;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.Schedules;
import dev.lockstep.spring.IdempotencyRefused;
import dev.lockstep.spring.LockstepRuntime;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** An application with JPA, and everything that Lockstep runs in it. */
class JpaApplicationTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static ConfigurableApplicationContext context;
  private static Shop shop;
  private static Transactor transactor;
  private static PlatformTransactionManager manager;
  private static TransactionTemplate transaction;

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Shop.class)
  static class Application {}

  @BeforeAll
  static void start() {
    context =
        new SpringApplicationBuilder(Application.class)
            .web(WebApplicationType.NONE)
            .properties(
                Map.of(
                    "spring.datasource.url", database.url(),
                    "spring.datasource.username", database.user(),
                    "spring.datasource.password", database.password(),
                    "spring.flyway.enabled", "false",
                    "spring.jpa.hibernate.ddl-auto", "create",
                    "spring.jpa.open-in-view", "false",
                    "spring.main.banner-mode", "off",
                    "lockstep.jobs.queues.orders.first-backoff", "5ms",
                    "management.endpoints.web.exposure.include", "*"))
            .run();
    shop = context.getBean(Shop.class);
    transactor = context.getBean(Transactor.class);
    manager = context.getBean(PlatformTransactionManager.class);
    transaction = new TransactionTemplate(manager);
    Holds holds = context.getBean(Holds.class);
    holds.createScope(Shop.SALE, OptionalInt.empty());
    holds.createPools(Shop.SALE, List.of(NewPool.counted(Shop.SHIRTS, 100)));
  }

  @AfterAll
  static void stop() {
    context.close();
  }

  @Test
  void oneTransactionTakesEverythingAndItsJobAndEventArrive() {
    shop.checkout("order-1", "ann");

    await("shipped", () -> count("shop_order WHERE id = 'order-1' AND shipped") == 1);
    await("mailed", () -> shop.seen().contains("mailed order-1"));
    await("the job has ended", () -> count("lockstep.job WHERE kind = 'ship'") == 0);
    assertThat(shop.seen()).containsOnlyOnce("shipped order-1 at attempt 1");
  }

  @Test
  void aRollbackTakesAllWithIt() {
    assertThatThrownBy(
            () ->
                transaction.executeWithoutResult(
                    status -> {
                      shop.checkout("order-2", "bob");
                      throw new IllegalArgumentException("changed my mind");
                    }))
        .hasMessage("changed my mind");

    assertThat(count("shop_order WHERE id = 'order-2'")).isZero();
    assertThat(count("lockstep.hold WHERE buyer = 'bob'")).isZero();
    assertThat(count("lockstep.outbox_event WHERE key = 'order-2'")).isZero();
    assertThat(shop.seen()).noneMatch(line -> line.contains("order-2"));
  }

  @Test
  void aHandlerThatFailsWritesNothingAndRunsAgain() {
    shop.checkout("fragile-1", "carl");

    await("shipped", () -> count("shop_order WHERE id = 'fragile-1' AND shipped") == 1);
    assertThat(shop.seen())
        .containsSubsequence("shipped fragile-1 at attempt 1", "shipped fragile-1 at attempt 2");
  }

  @Test
  void anOutcomeThatIsNotDoneRollsTheHandlersWritesBack() {
    Jobs jobs = context.getBean(Jobs.class);
    transactor.run(c -> jobs.enqueue(c, NewJob.of("orders", "never", "{}")));

    await(
        "it is dead",
        () ->
            !jobs.list(JobState.DEAD, JobFilter.ALL.ofKind("never"), Optional.empty(), 5)
                .isEmpty());
    assertThat(count("shop_order WHERE id = 'never'")).isZero();
  }

  @Test
  void workThatFailedCannotBeCommittedByWhoeverSwallowsIt() {
    assertThatThrownBy(
            () ->
                transaction.executeWithoutResult(
                    status -> {
                      try {
                        transactor.run(
                            c -> {
                              jdbc()
                                  .update(
                                      "INSERT INTO shop_order (id, shipped) VALUES ('half', false)");
                              throw new IllegalArgumentException("the other half");
                            });
                      } catch (IllegalArgumentException e) {
                        assertThat(e).hasMessage("the other half");
                      }
                    }))
        .isInstanceOf(TransactionDoomed.class)
        .hasRootCauseMessage("the other half");

    assertThat(count("shop_order WHERE id = 'half'")).isZero();
  }

  @Test
  void aCallThatCommitsByItselfIsRefusedInsideATransaction() {
    BuyerId dora = new BuyerId("dora");
    Acquire acquire =
        Acquire.of(
            Shop.SALE,
            HoldId.forKey(dora, "1"),
            dora,
            List.of(Line.of(Shop.SHIRTS, 1)),
            Duration.ofMinutes(1));
    Holds holds = context.getBean(Holds.class);

    transaction.executeWithoutResult(
        status ->
            assertThatIllegalStateException()
                .isThrownBy(() -> holds.call(acquire))
                .withMessageContaining("use join")
                .withMessageContaining("outside the transaction"));

    assertThat(count("lockstep.hold WHERE buyer = 'dora'")).isZero();
  }

  @Test
  void jdbcTemplateAndJooqShareTheConnectionWithLockstep() {
    transaction.executeWithoutResult(
        status -> {
          transactor.run(c -> c.createStatement().execute("CREATE TEMP TABLE seen (n int)"));
          jdbc().update("INSERT INTO seen VALUES (1)");
          DataSource source = context.getBean(DataSource.class);
          int rows = DSL.using(DataSourceUtils.getConnection(source)).fetchCount(DSL.table("seen"));
          assertThat(rows).isEqualTo(1);
          status.setRollbackOnly();
        });
  }

  /** It would write on a connection of its own, and commit apart. */
  @Test
  void jpaInsideATransactionThatTheTransactorBeganIsRefused() {
    assertThatThrownBy(() -> transactor.run(c -> shop.checkout("order-3", "eve")))
        .isInstanceOf(IllegalTransactionStateException.class);

    assertThat(count("shop_order WHERE id = 'order-3'")).isZero();
  }

  @Test
  void aNewTransactionInsideIsTheOneThatIsJoined() {
    TransactionTemplate inner = new TransactionTemplate(manager);
    inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);

    transaction.executeWithoutResult(
        status -> {
          insert("outer");
          inner.executeWithoutResult(unused -> insert("inner"));
          insert("outer, too");
          status.setRollbackOnly();
        });

    assertThat(count("shop_order WHERE id IN ('outer', 'outer, too')")).isZero();
    assertThat(count("shop_order WHERE id = 'inner'")).isEqualTo(1);
  }

  /** The host's connection would lose what is written now. */
  @Test
  void aCallbackAfterTheCommitWritesInATransactionOfItsOwn() {
    transaction.executeWithoutResult(
        status ->
            TransactionSynchronizationManager.registerSynchronization(
                new TransactionSynchronization() {
                  @Override
                  public void afterCommit() {
                    insert("after the commit");
                  }
                }));

    assertThat(count("shop_order WHERE id = 'after the commit'")).isEqualTo(1);
  }

  @Test
  void aConflictRunsTheWholeTransactionAgain() throws Exception {
    shop.conflicting("retried");

    assertThat(count("shop_order WHERE id = 'retried'")).isEqualTo(1);
  }

  @Test
  void whatHasCommittedNeverRunsAgain() {
    assertThatIllegalStateException()
        .isThrownBy(() -> shop.failingAfterTheCommit("committed"))
        .withRootCauseInstanceOf(SQLException.class);

    assertThat(count("shop_order WHERE id = 'committed'")).isEqualTo(1);
  }

  /** Such as a listener of the phase BEFORE_COMMIT, which runs after the first check. */
  @Test
  void workThatFailedInACallbackBeforeTheCommitCannotBeCommitted() {
    assertThatThrownBy(
            () ->
                transaction.executeWithoutResult(
                    status -> {
                      insert("early");
                      TransactionSynchronizationManager.registerSynchronization(swallowing());
                    }))
        .isInstanceOf(TransactionDoomed.class);

    assertThat(count("shop_order WHERE id = 'early'")).isZero();
  }

  private static TransactionSynchronization swallowing() {
    return new TransactionSynchronization() {
      @Override
      public void beforeCommit(boolean readOnly) {
        try {
          transactor.run(
              c -> {
                throw new IllegalArgumentException("late");
              });
        } catch (IllegalArgumentException e) {
          assertThat(e).hasMessage("late");
        }
      }
    };
  }

  @Test
  void anIdempotentMethodRunsOnceForEachKey() {
    Shop.Receipt first = shop.buy("fay", "key-1", "order-4");

    assertThat(shop.buy("fay", "key-1", "order-4")).isEqualTo(first);
    assertThat(count("lockstep.hold WHERE buyer = 'fay'")).isEqualTo(1);
    assertThatThrownBy(() -> shop.buy("fay", "key-1", "another order"))
        .isInstanceOfSatisfying(
            IdempotencyRefused.class, refused -> assertThat(refused.isInUse()).isFalse());
    assertThatThrownBy(() -> shop.buy("fay", " ", "order-5"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("key");
  }

  @Test
  void anIdempotentMethodThatFailsLeavesItsKeyFree() {
    assertThatThrownBy(() -> shop.buy("gus", "key-1", "order-1-" + "x".repeat(300)))
        .isInstanceOf(RuntimeException.class);

    assertThat(shop.buy("gus", "key-1", "order-6").order()).isEqualTo("order-6");
    assertThat(count("shop_order WHERE id = 'order-6'")).isEqualTo(1);
  }

  @Test
  void aRecurringMethodHasOneScheduleHoweverOftenItIsDeployed() {
    LockstepRuntime runtime = context.getBean(LockstepRuntime.class);
    runtime.stop();
    runtime.start();

    Schedules schedules = context.getBean(Schedules.class);
    assertThat(schedules.list(Optional.empty(), 10))
        .singleElement()
        .satisfies(
            one -> {
              assertThat(one.content().name()).isEqualTo("report");
              assertThat(one.nextAt()).isPresent();
              assertThat(one.version()).as("nothing changed it").isEqualTo(1);
            });
  }

  @Test
  void healthAndTheEndpointSayHowItIs() {
    assertThat(context.getBean("lockstepHealthIndicator", HealthIndicator.class).health())
        .satisfies(health -> assertThat(health.getStatus()).isEqualTo(Status.UP));
    assertThat(context.getBean(LockstepEndpoint.class).lockstep())
        .containsKeys("node", "queues", "deadLetters", "sinks");
  }

  private static void insert(String order) {
    transactor.run(
        c -> {
          try (PreparedStatement statement =
              c.prepareStatement("INSERT INTO shop_order (id, shipped) VALUES (?, false)")) {
            statement.setString(1, order);
            statement.execute();
          }
        });
  }

  private static JdbcTemplate jdbc() {
    return context.getBean(JdbcTemplate.class);
  }

  private static long count(String from) {
    return database.queryLong("SELECT count(*) FROM " + from);
  }

  private static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("Never came true: " + what);
      }
      LockSupport.parkNanos(1_000_000);
    }
  }
}
