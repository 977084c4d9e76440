package dev.lockstep.shard;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Clock;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nodes whose clocks are wrong by any amount: nothing here looks at them. */
class NoWallClockTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  @Test
  void nothingReadsTheClockOfTheNode() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .areAssignableTo(Clock.class)
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(Instant.class, "now")
        .check(
            new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("dev.lockstep.shard"));
  }

  @Test
  void aMemberIsDeadWhenTheDatabaseSaysSoAndNotBefore() {
    try (TestNode alive = TestNode.started(database, "clock", 2)) {
      alive.awaitOwned(2);
      database.execute(
          """
          INSERT INTO lockstep.shard_member VALUES
            ('clock', '00000000-0000-0000-0000-000000000001', 'still', false, now() + interval '1 hour'),
            ('clock', '00000000-0000-0000-0000-000000000002', 'gone', false, now() - interval '1 ms')
          """);

      // The one that is alive is left its share, though it never takes it.
      alive.awaitOwned(1);
      Await.until("one buried", () -> nodes() == 2);
      database.execute("UPDATE lockstep.shard_member SET expires_at = now() WHERE node = 'still'");
      alive.awaitOwned(2);
      assertThat(nodes()).isEqualTo(1);
    }
  }

  private static long nodes() {
    return database.queryLong("SELECT count(*) FROM lockstep.shard_member");
  }
}
