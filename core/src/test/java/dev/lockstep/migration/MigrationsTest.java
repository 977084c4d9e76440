package dev.lockstep.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.fault.StatementFailed;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Background;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.callback.Callback;
import org.flywaydb.core.api.callback.Context;
import org.flywaydb.core.api.callback.Event;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

class MigrationsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  @BeforeEach
  void nothing() {
    database.execute("DROP SCHEMA IF EXISTS lockstep CASCADE");
  }

  @Test
  void everyScriptRunsOnce() {
    assertThat(Migrations.apply(database.dataSource())).isEqualTo(Script.all().size());
    assertThat(Migrations.apply(database.dataSource())).isZero();
    Migrations.verify(database.dataSource());
  }

  @Test
  void everyFileIsListedInOrder() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("src/main/resources/db/lockstep"))) {
      List<String> names =
          files
              .map(f -> f.getFileName().toString())
              .filter(f -> f.endsWith(".sql"))
              .sorted()
              .toList();
      assertThat(Script.all()).extracting(Script::file).isEqualTo(names);
    }
  }

  @Test
  void flywayFindsNothingToDoAfterwards() {
    Migrations.apply(database.dataSource());

    flyway("latest").validate();
    assertThat(flyway("latest").migrate().migrationsExecuted).isZero();
  }

  @Test
  void itGoesOnWhereFlywayStopped() {
    flyway("20").migrate();
    long before = Script.all().stream().filter(script -> script.number() <= 20).count();

    assertThat(Migrations.apply(database.dataSource()))
        .isEqualTo((int) (Script.all().size() - before));
    flyway("latest").validate();
  }

  @Test
  void nodesThatStartAtOnceMigrateOnce() throws InterruptedException {
    List<Integer> ran =
        Race.<Integer>of(6).run(i -> Migrations.apply(database.dataSource())).valuesOrThrow();

    assertThat(ran).containsOnly(0, Script.all().size());
    assertThat(ran).filteredOn(n -> n > 0).hasSize(1);
  }

  @Test
  void aScriptThatFailsLeavesNothingBehind() {
    // In the way of a script in the middle.
    database.execute(
        """
        CREATE SCHEMA lockstep;
        CREATE TABLE lockstep.once (mine int)""");

    assertThatThrownBy(() -> Migrations.apply(database.dataSource()))
        .isInstanceOf(StatementFailed.class)
        .hasMessageContaining("once");
    assertThat(
            database.queryLong(
                "SELECT count(*) FROM pg_class WHERE relnamespace = 'lockstep'::regnamespace"))
        .isOne();
  }

  @Test
  void missingTablesAreOneSentence() {
    assertThatThrownBy(() -> Migrations.verify(database.dataSource()))
        .isInstanceOf(SchemaMismatch.class)
        .hasMessageStartingWith(
            "The database has no tables of Lockstep; this release needs version");
  }

  @Test
  void oldTablesAreOneSentenceWithBothVersions() {
    flyway("20").migrate();

    assertThatThrownBy(() -> Migrations.verify(database.dataSource()))
        .isInstanceOf(SchemaMismatch.class)
        .hasMessageContaining("is at version 20; this release needs")
        .hasMessageContaining("V030__ledger.sql and");
  }

  @Test
  void aDatabaseOfANewerReleaseIsLeftAsItIs() {
    Migrations.apply(database.dataSource());
    database.execute(
        """
        INSERT INTO lockstep.flyway_schema_history
        VALUES (999, '999', 'later', 'SQL', 'V999__later.sql', 1, 'ann', now(), 0, true)""");

    assertThat(Migrations.apply(database.dataSource())).isZero();
    Migrations.verify(database.dataSource());
  }

  @Test
  void anotherScriptOfTheSameNumberIsRefused() {
    Migrations.apply(database.dataSource());
    database.execute(
        "UPDATE lockstep.flyway_schema_history SET checksum = checksum + 1 WHERE version = '011'");

    assertThatThrownBy(() -> Migrations.apply(database.dataSource()))
        .isInstanceOf(SchemaMismatch.class)
        .hasMessageContaining("V011__job.sql is not the script that ran");
    assertThatThrownBy(() -> Migrations.verify(database.dataSource()))
        .isInstanceOf(SchemaMismatch.class);
  }

  /** A pg_dump, or somebody's report, keeps a table for long while nodes work. */
  @Test
  void aScriptThatWaitsForATableLetsOthersPass() throws Exception {
    flyway("47").migrate();
    try (Connection reader = database.connection();
        Connection heartbeat = database.connection()) {
      reader.setAutoCommit(false);
      Sql.query(reader, "SELECT count(*) FROM lockstep.shard_member");
      Background<Integer> upgrade = Background.start(() -> Migrations.apply(database.dataSource()));
      Await.blocked(database, 1);

      Sql.execute(heartbeat, "SET lock_timeout = '3s'");
      assertThat(Sql.query(heartbeat, "SELECT count(*) FROM lockstep.shard_member")).isZero();
      Sql.execute(heartbeat, "RESET lock_timeout");
      assertThat(upgrade.isDone()).isFalse();
      assertThat(
              database.queryLong(
                  "SELECT count(*) FROM lockstep.flyway_schema_history WHERE version = '070'"))
          .as("no lock outlasts its script")
          .isOne();

      reader.rollback();
      assertThat(upgrade.result()).isEqualTo(2);
    }
    Migrations.verify(database.dataSource());
  }

  @Test
  void nodesWithAndWithoutFlywayWaitForEachOther() throws Exception {
    AtomicReference<@Nullable Background<Integer>> other = new AtomicReference<>();
    FluentConfiguration flyway =
        configuration(database.dataSource())
            .callbacks(
                beforeAScript(
                    () -> {
                      if (other.get() == null) {
                        other.set(Background.start(() -> Migrations.apply(database.dataSource())));
                        Await.blocked(database, 1);
                      }
                    }));

    int ran = flyway.load().migrate().migrationsExecuted;

    assertThat(ran + Objects.requireNonNull(other.get()).result()).isEqualTo(Script.all().size());
    flyway("latest").validate();
    Migrations.verify(database.dataSource());
  }

  private static Callback beforeAScript(Runnable action) {
    return new Callback() {
      @Override
      public boolean supports(Event event, Context context) {
        return event == Event.BEFORE_EACH_MIGRATE;
      }

      @Override
      public boolean canHandleInTransaction(Event event, Context context) {
        return true;
      }

      @Override
      public void handle(Event event, Context context) {
        action.run();
      }

      @Override
      public String getCallbackName() {
        return "before a script";
      }
    };
  }

  @Test
  void aRoleThatMayNotCreateSchemasUsesTheOneMadeForIt() {
    database.execute(
        """
        DROP ROLE IF EXISTS tenant;
        CREATE ROLE tenant LOGIN PASSWORD 'tenant';
        CREATE SCHEMA lockstep AUTHORIZATION tenant""");
    try {
      PGSimpleDataSource tenant = new PGSimpleDataSource();
      tenant.setUrl(database.url());
      tenant.setUser("tenant");
      tenant.setPassword("tenant");

      assertThat(Migrations.apply(tenant)).isEqualTo(Script.all().size());
      Migrations.verify(tenant);
    } finally {
      database.execute("DROP SCHEMA lockstep CASCADE; DROP ROLE tenant");
    }
  }

  @Test
  void aPoolWithoutAutoCommitBringsItsTransactor() {
    HikariConfig config = new HikariConfig();
    config.setDataSource(database.dataSource());
    config.setAutoCommit(false);
    config.setMaximumPoolSize(1);
    try (HikariDataSource manual = new HikariDataSource(config)) {
      Transactor transactor =
          Transactor.onManualCommitPool(manual, TxOptions.DEFAULT, attempt -> {});

      assertThat(Migrations.apply(transactor)).isEqualTo(Script.all().size());
      Migrations.verify(transactor);
    }
  }

  @Test
  void aBaselineAndOthersVersionsAreNoScriptsOfOurs() {
    Migrations.apply(database.dataSource());
    database.execute(
        """
        DELETE FROM lockstep.flyway_schema_history WHERE version::int <= 47;
        INSERT INTO lockstep.flyway_schema_history VALUES
          (-2, '47', '<< Flyway Baseline >>', 'BASELINE', '', NULL, 'ann', now(), 0, true),
          (-1, '20240131.1', 'mine', 'SQL', 'V20240131.1__mine.sql', 1, 'ann', now(), 0, true)""");

    assertThat(Migrations.apply(database.dataSource())).isZero();
    Migrations.verify(database.dataSource());
  }

  private static Flyway flyway(String target) {
    return configuration(database.dataSource()).target(target).load();
  }

  // snippet: flyway
  static FluentConfiguration configuration(DataSource dataSource) {
    return Flyway.configure()
        .dataSource(dataSource)
        .locations("classpath:db/lockstep")
        .defaultSchema("lockstep")
        .createSchemas(true);
  }
  // end: flyway
}
