package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs that are done are deleted where they were read; what has come there since is not. */
class DoneInPlaceTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private final Jobs jobs = new Jobs(desk.transactor(), JobsConfig.DEFAULT.withShards(1));
  private final CountDownLatch firstBegun = new CountDownLatch(1);
  private final CountDownLatch go = new CountDownLatch(1);
  private final CountDownLatch lastBegun = new CountDownLatch(1);
  private final CountDownLatch end = new CountDownLatch(1);

  @Test
  void aJobThatHasComeIntoThePlaceOfAnotherIsLeftAlone() throws Exception {
    JobId first = enqueue(Desk.job("\"first\""));
    JobId second = enqueue(Desk.job("\"second\""));
    JobId later = enqueue(Desk.job("\"later\"").at(Instant.now().plus(Duration.ofDays(1))));
    JobId cancelled = enqueue(Desk.job("\"cancelled\""));
    enqueue(Desk.job("\"last\""));
    start();
    String place = place(cancelled);
    desk.transactor().run(c -> jobs.cancel(c, cancelled, OptionalInt.empty()));
    comesTo(place, later, () -> touch(later));

    finishTogether(first);
    Await.until("the second is done", () -> jobs.find(second).isEmpty());

    assertThat(jobs.find(later)).isPresent();
    end.countDown();
    Await.until("all that was due is done", () -> desk.live() == 1);
    assertThat(jobs.find(later)).isPresent();
  }

  @Test
  void aJobThatWasChangedWhileItRanIsNotDoneThoughItIsBackInItsPlace() throws Exception {
    JobId changed = enqueue(Desk.job("\"first\""));
    enqueue(Desk.job("\"last\""));
    start();
    String place = place(changed);
    Runnable change =
        () ->
            desk.transactor().run(c -> jobs.runAt(c, changed, OptionalInt.empty(), Instant.EPOCH));
    change.run();
    comesTo(place, changed, change);

    go.countDown();
    end.countDown();
    desk.awaitNoneLive();

    assertThat(desk.ran).containsExactlyInAnyOrder("\"first\"", "\"last\"", "\"first\"");
  }

  /** One thread runs them all, in order; so when it runs the last the others are to be written. */
  private void start() throws InterruptedException {
    desk.start(
        jobs,
        Desk.worker(1),
        (payload, job) -> {
          if (payload.equals("\"first\"")) {
            firstBegun.countDown();
            assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
          } else if (payload.equals("\"last\"")) {
            lastBegun.countDown();
            assertThat(end.await(30, TimeUnit.SECONDS)).isTrue();
          }
          return desk.note(payload, job);
        });
    assertThat(firstBegun.await(30, TimeUnit.SECONDS)).isTrue();
  }

  /** The result of the first waits for a lock until those of the others are there, too. */
  private void finishTogether(JobId first) throws Exception {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      try (var statement = connection.createStatement()) {
        statement.execute("SELECT 1 FROM lockstep.job WHERE id = '" + first + "' FOR UPDATE");
      }
      go.countDown();
      assertThat(lastBegun.await(30, TimeUnit.SECONDS)).isTrue();
      connection.rollback();
    }
  }

  /** A new version of a row takes the first place of its page that a vacuum has made free. */
  private static void comesTo(String place, JobId id, Runnable change) {
    Await.until(
        id + " is at " + place,
        () -> {
          database.execute("VACUUM (INDEX_CLEANUP ON) lockstep.job");
          change.run();
          return place(id).equals(place);
        });
  }

  private static void touch(JobId id) {
    database.execute("UPDATE lockstep.job SET max_attempts = 9 WHERE id = '" + id + "'");
  }

  private static String place(JobId id) {
    return database
        .query("SELECT ctid::text FROM lockstep.job WHERE id = ?", r -> r.getString(1), id.value())
        .get(0);
  }

  private JobId enqueue(NewJob job) {
    return ((EnqueueResult.Created) desk.transactor().call(c -> jobs.enqueue(c, job))).id();
  }
}
