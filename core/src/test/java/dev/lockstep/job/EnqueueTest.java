package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.StatementFailed;
import dev.lockstep.job.EnqueueResult.Created;
import dev.lockstep.job.EnqueueResult.Duplicate;
import dev.lockstep.job.NewJob.UniqueKey;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.RetryPolicy;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs are written in the caller's transaction, singly, in batches and by COPY. */
class EnqueueTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private static final Instant LATER = Instant.parse("2099-01-01T09:00:00Z");

  @Test
  void aJobIsADuplicateOnlyOfOneWithItsQueueAndKey() {
    NewJob one = NewJob.of("a\nb", "k", "{}").withUnique(UniqueKey.whileLive("c"));
    NewJob other = NewJob.of("a", "k", "{}").withUnique(UniqueKey.whileLive("b\nc"));

    List<EnqueueResult> enqueued =
        desk.transactor().call(c -> desk.jobs().enqueueAll(c, List.of(one, other)));

    assertThat(enqueued).hasSize(2).allMatch(Created.class::isInstance);
  }

  @Test
  void aJobIsThereIfAndOnlyIfTheCallerCommits() throws Exception {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      desk.jobs().enqueue(connection, Desk.job(1));
      connection.rollback();
      desk.jobs().enqueue(connection, Desk.job(2));
      assertThat(desk.live()).isZero();
      connection.commit();
    }

    assertThat(desk.jobs().list(JobState.READY, JobFilter.ALL, Optional.empty(), 10))
        .extracting(Job::payload)
        .containsExactly("2");
  }

  @Test
  void aBatchIsAnsweredInItsOrderAndKeepsWhatItWasGiven() {
    NewJob plain = Desk.job("{\"a\": 1}");
    NewJob special =
        NewJob.of("other", "kind", "[]").at(LATER).withPriority(Priority.HIGH).withMaxAttempts(3);
    NewJob laned = Desk.job(3).inLane("lane");

    List<EnqueueResult> results =
        desk.transactor().call(c -> desk.jobs().enqueueAll(c, List.of(plain, special, laned)));

    Job first = job(results.get(0));
    assertThat(first.payload()).isEqualTo("{\"a\": 1}");
    assertThat(first.state()).isEqualTo(JobState.READY);
    assertThat(first.version()).isEqualTo(1);
    Job second = job(results.get(1));
    assertThat(second.queue()).isEqualTo("other");
    assertThat(second.kind()).isEqualTo("kind");
    assertThat(second.due()).isEqualTo(LATER);
    assertThat(second.priority()).isEqualTo(Priority.HIGH);
    assertThat(second.maxAttempts()).isEqualTo(3);
    assertThat(second.state()).isEqualTo(JobState.SCHEDULED);
    assertThat(job(results.get(2)).lane()).contains("lane");
  }

  @Test
  void copyWritesTheSameAsAnInsert() {
    String odd = "{\"text\": \"tab\\t line\\n back\\\\slash \\u00e9 é 😀\"}";
    List<NewJob> jobs =
        List.of(
            Desk.job(odd),
            Desk.job("{\n\t\"x\": 1}"),
            NewJob.of("q\\u", "k\ttab", "1").at(LATER),
            Desk.job(2).inLane("l\\N"));

    long copied = desk.transactor().call(c -> desk.jobs().copy(c, jobs.iterator()));

    assertThat(copied).isEqualTo(4);
    List<String> stored = stored();
    database.execute("TRUNCATE lockstep.job");
    desk.transactor().run(c -> desk.jobs().enqueueAll(c, jobs));
    assertThat(stored).isEqualTo(stored());
  }

  @Test
  void copyTakesAsManyAsThereAre() {
    long copied =
        desk.transactor()
            .call(
                c ->
                    desk.jobs().copy(c, IntStream.range(0, 25_000).mapToObj(Desk::job).iterator()));

    assertThat(copied).isEqualTo(25_000);
    List<Long> ofShards =
        database.query("SELECT count(*) FROM lockstep.job GROUP BY shard", row -> row.getLong(1));
    assertThat(ofShards).hasSize(Desk.SHARDS);
    // One more for each part that was taken ahead.
    assertThat(Collections.max(ofShards) - Collections.min(ofShards)).isLessThan(10);
  }

  @Test
  void aUniqueKeyBelongsToOneLiveJobAndIsFreeAgainWhenItHasEnded() throws Exception {
    NewJob job = Desk.job(1).withUnique(UniqueKey.whileLive("only"));

    List<EnqueueResult> results =
        Race.<EnqueueResult>of(10).run(i -> desk.tryEnqueue(job)).valuesOrThrow();

    assertThat(results.stream().filter(Created.class::isInstance)).hasSize(1);
    JobId winner =
        results.stream()
            .flatMap(r -> r instanceof Created a ? Stream.of(a.id()) : Stream.empty())
            .findFirst()
            .orElseThrow();
    assertThat(results.stream().filter(new Duplicate(winner)::equals)).hasSize(9);
    assertThat(desk.live()).isEqualTo(1);
    desk.start(1, desk::note);
    desk.awaitNoneLive();
    assertThat(desk.tryEnqueue(job)).isInstanceOf(Created.class);
    desk.awaitNoneLive();
    assertThat(desk.ran).hasSize(2);
  }

  /** How large a batch is decides in which order a hash map has its keys. */
  @Test
  void batchesWithTheSameKeysDoNotDeadlock() throws Exception {
    database.execute(
        """
        CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS
          $$BEGIN PERFORM pg_sleep(0.005); RETURN NEW; END$$;
        CREATE TRIGGER slowly BEFORE INSERT ON lockstep.job_unique
          FOR EACH ROW EXECUTE FUNCTION slowly();
        """);
    try {
      Jobs jobs = desk.jobs();
      TxOptions once = Await.PATIENTLY.withRetry(RetryPolicy.NEVER);
      List<Integer> sizes = List.of(12, 24, 48, 96);

      List<List<EnqueueResult>> results =
          Race.<List<EnqueueResult>>of(sizes.size())
              .run(
                  i -> {
                    List<NewJob> batch = new ArrayList<>();
                    for (int key = 0; key < sizes.get(i); key++) {
                      batch.add(Desk.job(key).withUnique(UniqueKey.whileLive("key-" + key)));
                    }
                    return desk.transactor().call(once, c -> jobs.enqueueAll(c, batch));
                  })
              .valuesOrThrow();

      assertThat(results.stream().flatMap(List::stream).filter(Created.class::isInstance))
          .hasSize(96);
    } finally {
      database.execute("DROP FUNCTION slowly CASCADE");
    }
  }

  @Test
  void aKeyPerPeriodStaysTakenUntilThePeriodHasPassed() {
    NewJob job = Desk.job(1).withUnique(UniqueKey.per(Duration.ofDays(1), "daily"));
    desk.start(1, desk::note);
    JobId first = desk.enqueue(job);
    desk.awaitNoneLive();

    assertThat(desk.tryEnqueue(job)).isEqualTo(new Duplicate(first));

    database.execute("UPDATE lockstep.job_unique SET expires_at = now()");
    assertThat(desk.tryEnqueue(job)).isInstanceOf(Created.class);
  }

  @Test
  void aJobThatEndsDoesNotFreeTheKeyThatAnotherHasByNow() {
    JobId first = desk.enqueue(Desk.job(1).withUnique(UniqueKey.per(Duration.ofDays(1), "k")));
    database.execute("UPDATE lockstep.job_unique SET expires_at = now()");
    NewJob next = Desk.job(2).withUnique(UniqueKey.whileLive("k"));
    JobId second = desk.enqueue(next);

    desk.transactor().run(c -> desk.jobs().cancel(c, first, OptionalInt.empty()));

    assertThat(desk.tryEnqueue(next)).isEqualTo(new Duplicate(second));
  }

  @Test
  void keysThatHavePassedAreRemoved() {
    desk.enqueue(Desk.job(1).withUnique(UniqueKey.per(Duration.ofDays(1), "a")));
    desk.enqueue(Desk.job(1).withUnique(UniqueKey.whileLive("b")));
    database.execute("UPDATE lockstep.job_unique SET expires_at = now() WHERE unique_key = 'a'");

    desk.jobs().maintain();

    assertThat(database.query("SELECT unique_key FROM lockstep.job_unique", r -> r.getString(1)))
        .containsExactly("b");
  }

  @Test
  void twinsInOneBatchAreOneJob() {
    NewJob job = Desk.job(1).withUnique(UniqueKey.whileLive("twin"));

    List<EnqueueResult> results =
        desk.transactor().call(c -> desk.jobs().enqueueAll(c, List.of(job, job)));

    JobId first = ((Created) results.get(0)).id();
    assertThat(results.get(1)).isEqualTo(new Duplicate(first));
    assertThat(desk.live()).isEqualTo(1);
  }

  @Test
  void whatIsNoJobIsRefusedAndNothingIsWritten() {
    List<Runnable> bad = new ArrayList<>();
    bad.add(() -> Desk.job("\0"));
    bad.add(() -> Desk.job("\ud800"));
    bad.add(() -> NewJob.of(" ", "k", "1"));
    bad.add(() -> NewJob.of("q", "k".repeat(NameRule.MAX_LENGTH + 1), "1"));
    bad.add(() -> Desk.job(1).withMaxAttempts(0));
    bad.add(() -> Desk.job(1).withMaxAttempts(NewJob.MAX_ATTEMPTS + 1));
    bad.add(() -> Desk.job(1).at(Instant.MAX));
    bad.add(() -> Desk.job(1).inLane(new NewJob.Lane("l", 0)));
    bad.add(() -> Desk.job(1).withPriority(Priority.HIGH).inLane("l"));
    bad.add(() -> UniqueKey.per(Duration.ZERO, "k"));
    assertThat(bad)
        .allSatisfy(
            attempt ->
                assertThatThrownBy(attempt::run).isInstanceOf(IllegalArgumentException.class));
    assertThatThrownBy(() -> desk.enqueue(Desk.job("no json"))).isInstanceOf(StatementFailed.class);
    assertThat(desk.live()).isZero();
  }

  @Test
  void aPayloadHasALimitInBytes() {
    Jobs jobs = new Jobs(desk.transactor(), Desk.config().withMaxPayloadBytes(6));

    desk.transactor().run(c -> jobs.enqueue(c, Desk.job("\"éé\"")));

    assertThatThrownBy(() -> desk.transactor().run(c -> jobs.enqueue(c, Desk.job("\"ééa\""))))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () -> desk.transactor().run(c -> jobs.copy(c, List.of(Desk.job("\"ééa\"")).iterator())))
        .isInstanceOf(RuntimeException.class);
    assertThat(desk.live()).isEqualTo(1);
  }

  private Job job(EnqueueResult result) {
    return desk.jobs().find(((Created) result).id()).orElseThrow();
  }

  private static List<String> stored() {
    return database.query(
        """
        SELECT row(queue, kind, payload::text, lane, lane_limit, priority, max_attempts, version,
                   CASE WHEN due > now() THEN due END)::text
        FROM lockstep.job ORDER BY payload::text""",
        row -> row.getString(1));
  }
}
