package dev.lockstep.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.StatementFailed;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

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
