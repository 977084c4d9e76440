package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.EditResult.Edited;
import dev.lockstep.job.EditResult.Gone;
import dev.lockstep.job.EditResult.Stale;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Edits compare the version they were made for. */
class VersionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private static final Instant LATER = Instant.parse("2099-01-01T09:00:00Z");

  @Test
  void aStaleEditIsRefusedWithTheCurrentVersion() {
    JobId id = desk.enqueue(Desk.job(1).at(LATER));

    assertThat(edit(c -> desk.jobs().runAt(c, id, OptionalInt.of(1), LATER.plusSeconds(1))))
        .isEqualTo(new Edited(2));
    assertThat(edit(c -> desk.jobs().payload(c, id, OptionalInt.of(1), "2")))
        .isEqualTo(new Stale(2));
    assertThat(edit(c -> desk.jobs().cancel(c, id, OptionalInt.of(1)))).isEqualTo(new Stale(2));

    Job job = desk.jobs().find(id).orElseThrow();
    assertThat(job.payload()).isEqualTo("1");
    assertThat(job.due()).isEqualTo(LATER.plusSeconds(1));
    assertThat(job.version()).isEqualTo(2);
  }

  @Test
  void ofConcurrentEditsOfOneVersionOneIsMade() throws Exception {
    JobId id = desk.enqueue(Desk.job(0).at(LATER));

    List<EditResult> results =
        Race.<EditResult>of(8)
            .run(i -> edit(c -> desk.jobs().payload(c, id, OptionalInt.of(1), "" + i)))
            .valuesOrThrow();

    assertThat(results).containsOnlyOnce(new Edited(2));
    assertThat(results.stream().filter(new Stale(2)::equals)).hasSize(7);
  }

  @Test
  void aJobThatIsCancelledIsGoneAndNeverRuns() {
    JobId id = desk.enqueue(Desk.job(1).at(LATER));

    assertThat(edit(c -> desk.jobs().cancel(c, id, OptionalInt.empty()))).isEqualTo(new Edited(2));

    assertThat(desk.jobs().find(id)).isEmpty();
    assertThat(edit(c -> desk.jobs().cancel(c, id, OptionalInt.empty()))).isEqualTo(new Gone());
  }

  @Test
  void theResultOfAJobThatWasChangedWhileItRanIsRefusedAndItRunsAsChanged() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    JobId id = desk.enqueue(Desk.job("\"before\""));
    desk.start(
        1,
        (payload, job) -> {
          begun.countDown();
          assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
          return Desk.effect(payload, job);
        });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();

    edit(c -> desk.jobs().payload(c, id, OptionalInt.of(1), "\"after\""));
    go.countDown();
    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactly("\"after\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"done", "retry", "snooze", "dead", "cancel"})
  void whateverIsSaidOfAJobThatWasChangedMeanwhileIsRefused(String said) {
    Jobs jobs = new Jobs(desk.transactor(), Desk.config().withHistoryDays(1));
    JobId id = desk.enqueue(Desk.job("\"before\""));
    desk.start(
        jobs,
        Desk.worker(1),
        (payload, job) -> {
          if (payload.equals("\"after\"")) {
            return desk.note("attempt " + job.attempt(), job);
          }
          edit(c -> jobs.payload(c, id, OptionalInt.of(1), "\"after\""));
          return switch (said) {
            case "done" -> Outcome.done();
            case "retry" -> new Outcome.Retry("no");
            case "snooze" -> new Outcome.Snooze(Duration.ofHours(1));
            case "dead" -> new Outcome.Dead("no");
            default -> new Outcome.Cancel();
          };
        });

    desk.awaitNoneLive();

    assertThat(desk.ran).containsExactly("attempt 1");
    assertThat(jobs.find(id).orElseThrow().state()).isEqualTo(JobState.DONE);
    assertThat(jobs.attempts(id)).isEmpty();
  }

  @Test
  void aJobThatIsMovedForwardRunsThen() {
    JobId id = desk.enqueue(Desk.job(1).at(LATER));
    desk.start(1, desk::note);

    edit(c -> desk.jobs().runAt(c, id, OptionalInt.of(1), Instant.EPOCH));

    Await.until("ran", () -> desk.ran.contains("1"));
  }

  private EditResult edit(Function<Connection, EditResult> change) {
    return desk.transactor().call(change::apply);
  }
}
