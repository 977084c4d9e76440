package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.NewJob.UniqueKey;
import dev.lockstep.job.Recurrence.CatchUp;
import dev.lockstep.job.Recurrence.Gap;
import dev.lockstep.job.Recurrence.Overlap;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Changes of all jobs that match, counted first. */
class BulkChangeTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  @Test
  void whatIsCancelledIsWhatWasCountedAndItsKeyIsFree() {
    NewJob keyed = Desk.job("\"keyed\"").withUnique(UniqueKey.whileLive("k"));
    desk.enqueue(keyed);
    desk.enqueue(Desk.job("\"later\"").at(Instant.now().plusSeconds(9_999)));
    desk.enqueue(NewJob.of("other", Desk.KIND, "1"));
    JobFilter mail = JobFilter.ALL.inQueue(Desk.QUEUE);

    assertThat(count(Optional.empty(), mail)).isEqualTo(2);
    assertThat(count(Optional.of(JobState.SCHEDULED), mail)).isEqualTo(1);
    assertThat(cancel(Optional.of(JobState.READY), mail)).isEqualTo(1);
    assertThat(desk.tryEnqueue(keyed)).isInstanceOf(EnqueueResult.Created.class);
    assertThat(cancel(Optional.empty(), JobFilter.ALL)).isEqualTo(3);
    assertThat(desk.live()).isZero();
  }

  @Test
  void whatSomebodyElseIsChangingIsLeftToThem() {
    JobId theirs = desk.enqueue(Desk.job(1));
    desk.enqueue(Desk.job(2));

    desk.transactor()
        .run(
            c -> {
              assertThat(desk.jobs().payload(c, theirs, OptionalInt.empty(), "3"))
                  .isInstanceOf(EditResult.Edited.class);
              assertThat(cancel(Optional.empty(), JobFilter.ALL)).isEqualTo(1);
            });

    assertThat(desk.jobs().find(theirs).orElseThrow().payload()).isEqualTo("3");
    assertThat(desk.live()).isEqualTo(1);
  }

  @Test
  void deadLettersAreDiscardedWithTheirAttempts() {
    Worker worker = desk.start(1, (payload, job) -> new Outcome.Retry("no"));
    List<JobId> ids =
        List.of(
            desk.enqueue(Desk.job(1).withMaxAttempts(1)),
            desk.enqueue(Desk.job(2).withMaxAttempts(1)));
    Await.until("both are dead", () -> dead() == 2);
    worker.close();

    int twos =
        desk.transactor().call(c -> desk.jobs().countDead(c, JobFilter.ALL.containing("2"), 10));
    assertThat(twos).isEqualTo(1);
    assertThat(discard(ids.get(0))).isInstanceOf(EditResult.Edited.class);
    assertThat(discard(ids.get(0))).isEqualTo(new EditResult.Gone());
    assertThat(desk.jobs().attempts(ids.get(0))).isEmpty();
    assertThat(cancel(Optional.of(JobState.READY), JobFilter.ALL)).isZero();
    assertThat(count(Optional.empty(), JobFilter.ALL)).isEqualTo(1);
    assertThat(cancel(Optional.of(JobState.DEAD), JobFilter.ALL)).isEqualTo(1);
    assertThat(dead()).isZero();
    assertThat(desk.jobs().attempts(ids.get(1))).isEmpty();
  }

  /** Or it could deadlock with jobs that are enqueued with the same keys. */
  @Test
  void theKeysOfCancelledJobsAreLockedInTheOrderInWhichTheyAreClaimed() throws Exception {
    JobIds ids = new JobIds(Clock.systemUTC(), Desk.SHARDS);
    List<String> keys =
        IntStream.range(0, 10)
            .mapToObj(i -> "key " + i)
            .sorted(
                Comparator.comparingInt((String key) -> ids.shardOf(Desk.QUEUE, key)).reversed())
            .toList();
    keys.forEach(key -> desk.enqueue(Desk.job(1).withUnique(UniqueKey.whileLive(key))));
    String first = keys.get(keys.size() - 1);
    short shard = (short) ids.shardOf(Desk.QUEUE, first);
    try (Connection holder = database.connection()) {
      holder.setAutoCommit(false);
      assertThat(lockKeys(holder, "shard = " + shard)).isPositive();

      CompletableFuture<Integer> cancelled =
          CompletableFuture.supplyAsync(() -> cancel(Optional.empty(), JobFilter.ALL));
      Await.blocked(database, 1);

      assertThat(lockKeys(holder, "true")).as("no other key is locked yet").isEqualTo(10);
      holder.rollback();
      assertThat(cancelled.join()).isEqualTo(10);
    }
  }

  private static int lockKeys(Connection connection, String which) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT FROM lockstep.job_unique WHERE " + which + " FOR UPDATE SKIP LOCKED")) {
      int locked = 0;
      while (rows.next()) {
        locked++;
      }
      return locked;
    }
  }

  @Test
  void ticksOfSchedulesStay() {
    LocalDateTime then = LocalDateTime.now(ZoneOffset.UTC).plusDays(1);
    Schedules schedules =
        desk.jobs()
            .schedules(
                spec ->
                    new Recurrence(
                        after -> Optional.of(then), ZoneOffset.UTC, Gap.NEXT, Overlap.FIRST));
    NewSchedule daily = new NewSchedule("s", "daily", Desk.job(1), CatchUp.ALL);
    ScheduleId id = schedules.nextId();
    desk.transactor().run(c -> schedules.create(c, id, daily));

    assertThat(schedules.find(id)).isPresent();
    assertThat(count(Optional.empty(), JobFilter.ALL)).isZero();
    assertThat(cancel(Optional.empty(), JobFilter.ALL)).isZero();
    assertThat(desk.live()).isEqualTo(1);
  }

  private int count(Optional<JobState> state, JobFilter filter) {
    return desk.transactor().call(c -> desk.jobs().countCancellable(c, state, filter, 100));
  }

  private int cancel(Optional<JobState> state, JobFilter filter) {
    return desk.transactor().call(c -> desk.jobs().cancelAll(c, state, filter, 100));
  }

  private EditResult discard(JobId id) {
    return desk.transactor().call(c -> desk.jobs().discard(c, id));
  }

  private static long dead() {
    return database.queryLong("SELECT count(*) FROM lockstep.job_dead");
  }
}
