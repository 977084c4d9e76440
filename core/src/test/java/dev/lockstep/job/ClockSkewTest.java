package dev.lockstep.job;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nodes whose clocks are an hour ahead and an hour behind. */
class ClockSkewTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private static final Clock AHEAD = Clock.offset(Clock.systemUTC(), Duration.ofHours(1));
  private static final Clock BEHIND = Clock.offset(Clock.systemUTC(), Duration.ofHours(-1));

  @Test
  void jobsRunOnceAndAtTheDatabasesTimeWhoeverEnqueuesAndRunsThem() {
    Jobs ahead = desk.jobs(AHEAD);
    Jobs behind = desk.jobs(BEHIND);
    Instant now = database.query("SELECT now()", row -> row.getTimestamp(1).toInstant()).get(0);
    List<String> due = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      int number = i;
      Jobs jobs = i % 2 == 0 ? ahead : behind;
      desk.transactor().run(c -> jobs.enqueue(c, Desk.job(number)));
      due.add("" + i);
    }
    // By one node's clock this was long ago, by the other's it is far away.
    desk.transactor().run(c -> ahead.enqueue(c, Desk.job("\"early\"").at(now.plusSeconds(1_800))));
    desk.transactor().run(c -> behind.enqueue(c, Desk.job("\"late\"").at(now.minusSeconds(1_800))));
    due.add("\"late\"");

    desk.start(ahead, Desk.worker(4), desk::note);
    desk.start(behind, Desk.worker(4), desk::note);
    Await.until("all that is due", () -> desk.live() == 1);

    assertThat(desk.ran).containsExactlyInAnyOrderElementsOf(due);
  }

  @Test
  void jobsOfOneTransactionKeepTheirOrderEvenIfTheClockStandsStill() {
    Jobs jobs = desk.jobs(Clock.fixed(Instant.parse("2020-01-01T00:00:00Z"), ZoneOffset.UTC));
    desk.transactor()
        .run(
            connection -> {
              for (int i = 0; i < 50; i++) {
                jobs.enqueue(connection, Desk.job(i).inLane("one"));
              }
            });

    desk.start(jobs, Desk.worker(4), desk::note);
    desk.awaitNoneLive();

    assertThat(desk.ran)
        .containsExactlyElementsOf(IntStream.range(0, 50).mapToObj(Integer::toString).toList());
  }

  @Test
  void nothingButTheTimePartOfAnIdReadsTheNodesClock() {
    noClasses()
        .that()
        .doNotBelongToAnyOf(Jobs.class, JobIds.class, JobsConfig.class)
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
                .importPackages("dev.lockstep.job"));
  }
}
