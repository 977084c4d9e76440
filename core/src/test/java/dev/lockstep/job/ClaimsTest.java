package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.job.ClaimEnd.Lost;
import dev.lockstep.job.ClaimEnd.Recorded;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** G6 for those who do jobs outside any worker: one live lease, and only its token ends the job. */
@Timeout(120)
class ClaimsTest extends ClaimScene {
  @RegisterExtension static final TestDatabase SHARED = TestDatabase.migrated();

  ClaimsTest() {
    super(SHARED);
  }

  @Test
  void aClaimedJobIsNobodyElses() {
    enqueue(job("a"), job("b"), job("c"));
    assertThat(payloads(claim(2))).hasSize(2);
    assertThat(claim(10)).hasSize(1);
    assertThat(claim(10)).isEmpty();
  }

  @Test
  void twoWhoAskTogetherAreServedInTurn() {
    enqueue(job("1"), job("2"), job("3"));
    ClaimAsk two = new ClaimAsk(ANN, 2, Desk.LONG);
    ClaimAsk one = new ClaimAsk("service:bob", 5, Desk.LONG);
    List<List<ClaimedJob>> given = claims.claim(QUEUE, List.of(two, one)).jobs();
    assertThat(given.get(0)).hasSize(2);
    assertThat(given.get(1)).hasSize(1);
    assertThat(end(given.get(1).get(0), Outcome.done())).isInstanceOf(Lost.class);
    assertThat(endAs("service:bob", given.get(1).get(0), Outcome.done()))
        .isInstanceOf(Recorded.class);
  }

  @Test
  void noMoreIsClaimedAtOnceThanFitsIntoMemory() {
    String large = "\"" + "x".repeat(250_000) + "\"";
    for (int i = 0; i < 20; i++) {
      enqueue(NewJob.of(QUEUE, Desk.KIND, large));
    }
    ClaimAsk many = new ClaimAsk(ANN, 100, Desk.LONG);
    Claims.Taken taken = claims.claim(QUEUE, List.of(many, many));
    assertThat(taken.jobs()).extracting(List::size).containsExactly(17, 0);
    assertThat(taken.nextMs()).as("whoever got none asks again at once").hasValue(0);
    assertThat(claim(100)).hasSize(3);
  }

  @Test
  void completionAndItsEffectsAreOneTransaction() {
    enqueue(job("a"));
    ClaimedJob claimed = claim(1).get(0);
    assertThat(end(claimed, Outcome.Done.writing(c -> effect(c, "a")))).isEqualTo(done());
    assertThat(effects()).isEqualTo(1);
    assertThat(live()).isZero();

    // Recorded: the same token is worth nothing, and what was written with it is not there.
    assertThat(end(claimed, Outcome.Done.writing(c -> effect(c, "again"))))
        .isInstanceOf(Lost.class);
    assertThat(effects()).isEqualTo(1);
  }

  @Test
  void whoeverIsLateIsRefusedAndTheNextOneIsNot() {
    enqueue(job("a"));
    ClaimedJob late = claim(1).get(0);
    expireLeases();
    // Before anybody else has it, too: the lease has passed.
    assertThat(end(late, Outcome.Done.writing(c -> effect(c, "late")))).isInstanceOf(Lost.class);
    ClaimedJob second = claim(1).get(0);
    assertThat(second.attempt()).isEqualTo(2);
    for (Outcome outcome :
        List.of(
            Outcome.Done.writing(c -> effect(c, "late")),
            new Outcome.Retry("late"),
            new Outcome.Dead("late"),
            new Outcome.Snooze(Duration.ZERO))) {
      assertThat(end(late, outcome)).isInstanceOf(Lost.class);
    }
    assertThat(claims.extend(late.token(), ANN, Optional.empty())).isEmpty();
    assertThat(effects()).isZero();
    assertThat(end(second, Outcome.Done.writing(c -> effect(c, "second")))).isEqualTo(done());
    assertThat(effects()).isEqualTo(1);
  }

  /** Without the fence the test above would see the effect twice: this is that variant. */
  @Test
  void aNaiveCompletionByIdLetsTheLateOneIn() throws SQLException {
    enqueue(job("a"));
    ClaimedJob late = claim(1).get(0);
    expireLeases();
    ClaimedJob second = claim(1).get(0);
    transactor.run(
        c -> {
          effect(c, "late");
          try (PreparedStatement delete =
              c.prepareStatement("DELETE FROM lockstep.job WHERE id = ?")) {
            delete.setObject(1, late.id().value());
            assertThat(delete.executeUpdate()).isEqualTo(1);
          }
        });
    assertThat(effects()).isEqualTo(1);
    assertThat(end(second, Outcome.done())).isInstanceOf(Lost.class);
  }

  @Test
  void aHeartbeatExtendsALeaseThatHasNotPassed() {
    enqueue(job("a"));
    ClaimedJob claimed = claim(1).get(0);
    Instant longer =
        claims.extend(claimed.token(), ANN, Optional.of(Duration.ofMinutes(50))).orElseThrow();
    assertThat(longer).isAfter(claimed.expiresAt().plus(Duration.ofMinutes(30)));
    assertThat(claims.extend(claimed.token(), "service:eve", Optional.empty())).isEmpty();
    expireLeases();
    assertThat(claims.extend(claimed.token(), ANN, Optional.empty())).isEmpty();
  }

  @Test
  void aJobThatIsNeverAnsweredEndsDead() {
    enqueue(job("a").withMaxAttempts(3).withUnique(NewJob.UniqueKey.whileLive("k")));
    for (int attempt = 1; attempt <= 3; attempt++) {
      ClaimedJob claimed = claim(1).get(0);
      assertThat(claimed.attempt()).isEqualTo(attempt);
      expireLeases();
    }
    assertThat(claim(1)).isEmpty();
    Job dead = jobs.list(JobState.DEAD, JobFilter.ALL, Optional.empty(), 10).get(0);
    assertThat(dead.attempts()).isEqualTo(3);
    assertThat(dead.reason()).hasValue(ClaimExpiry.UNANSWERED);
    assertThat(jobs.attempts(dead.id())).hasSize(3);
    // Its key is free again, and it can be brought back.
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_unique")).isZero();
    boolean back = transactor.call(c -> jobs.replay(c, dead.id()));
    assertThat(back).isTrue();
    assertThat(claim(1)).hasSize(1);
  }

  @Test
  void withoutAnybodyWhoClaimsExpiredLeasesAreCountedAllTheSame() {
    enqueue(job("a").withMaxAttempts(1), job("b"));
    assertThat(claim(2)).hasSize(2);
    assertThat(jobs.list(JobState.RUNNING, JobFilter.ALL, Optional.empty(), 10)).hasSize(2);
    assertThat(claims.expire()).isZero();
    expireLeases();
    assertThat(claims.expire()).isEqualTo(2);
    assertThat(jobs.list(JobState.DEAD, JobFilter.ALL, Optional.empty(), 10)).hasSize(1);
    Job b = jobs.list(JobState.READY, JobFilter.ALL, Optional.empty(), 10).get(0);
    assertThat(b.attempts()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void manyLockedJobsHoldUpNoExpiredClaimBehindThem(boolean claimed) throws SQLException {
    int locked = ClaimExpiry.BATCH;
    enqueue(IntStream.rangeClosed(0, locked).mapToObj(i -> job("j" + i)).toArray(NewJob[]::new));
    claims.claim(QUEUE, Collections.nCopies(5, new ClaimAsk(ANN, locked / 5, Desk.LONG)));
    assertThat(claim(1)).hasSize(1);
    expireLeases();
    try (Connection somebody = database.connection()) {
      somebody.setAutoCommit(false);
      try (Statement lock = somebody.createStatement()) {
        lock.execute(
            "SELECT 1 FROM lockstep.job ORDER BY shard, id LIMIT " + locked + " FOR UPDATE");
      }

      if (claimed) {
        assertThat(claim(2)).hasSize(1);
      } else {
        assertThat(claims.expire()).isOne();
      }

      somebody.rollback();
    }
    assertThat(claims.expire()).isEqualTo(locked);
  }

  @Test
  void aTransactionLeftOpenOverAJobHoldsUpThatJobAndNoOther() throws SQLException {
    enqueue(
        job("a"),
        job("b"),
        job("key").withMaxAttempts(1).withUnique(NewJob.UniqueKey.whileLive("k")));
    assertThat(claim(3)).hasSize(3);
    expireLeases();
    try (Connection somebody = database.connection()) {
      somebody.setAutoCommit(false);
      try (Statement lock = somebody.createStatement()) {
        lock.execute("SELECT 1 FROM lockstep.job WHERE payload::text = '\"a\"' FOR UPDATE");
        lock.execute("SELECT 1 FROM lockstep.job_unique FOR UPDATE");
      }
      assertThat(payloads(claim(3))).containsExactly("\"b\"");
      assertThat(claims.expire()).isZero();
      somebody.rollback();
    }
    assertThat(payloads(claim(3))).containsExactly("\"a\"");
    assertThat(jobs.list(JobState.DEAD, JobFilter.ALL, Optional.empty(), 10)).hasSize(1);
  }

  @Test
  void aRetryCountsAndWaitsAndTheLastOneIsDead() {
    enqueue(job("a").withMaxAttempts(2));
    Recorded again = (Recorded) end(claim(1).get(0), new Outcome.Retry("no"));
    assertThat(again.state()).isEqualTo(JobState.SCHEDULED);
    assertThat(claim(1)).isEmpty();
    database.execute("UPDATE lockstep.job SET due = now()");
    ClaimedJob second = claim(1).get(0);
    assertThat(second.attempt()).isEqualTo(2);
    Outcome now = new Outcome.Retry("no again", Optional.of(Duration.ZERO));
    assertThat(end(second, now)).isEqualTo(new Recorded(JobState.DEAD, Optional.empty()));
    assertThat(jobs.attempts(second.id()))
        .extracting(Job.Attempt::error)
        .containsExactly("no", "no again");
  }

  @Test
  void whatItsCallerNeverGotIsGivenBackWithoutAnAttempt() {
    enqueue(job("a"));
    claims.giveBack(claim(1).stream().map(ClaimedJob::token).toList());
    assertThat(claim(1)).extracting(ClaimedJob::attempt).containsExactly(1);
  }

  @Test
  void aTokenHasOneText() {
    enqueue(job("a"));
    ClaimToken token = claim(1).get(0).token();
    assertThat(ClaimToken.parse(token.toString())).hasValue(token);
    for (String garbage :
        List.of("", "x", "é", token + "=", token + "A", "A".repeat(44), "999999")) {
      assertThat(ClaimToken.parse(garbage)).isEmpty();
    }
    assertThatThrownBy(() -> new ClaimAsk(ANN, 501, Desk.LONG))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new ClaimAsk(ANN, 1, Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void ofTwoCompletionsThatRaceOneIsWritten() throws InterruptedException {
    for (int i = 0; i < 10; i++) {
      enqueue(job("a"));
      ClaimedJob claimed = claim(1).get(0);
      List<ClaimEnd> ends =
          Race.<ClaimEnd>of(4)
              .run(caller -> end(claimed, Outcome.Done.writing(c -> effect(c, "x"))))
              .valuesOrThrow();
      assertThat(ends).containsOnlyOnce(done());
      assertThat(effects()).isEqualTo(i + 1);
    }
  }

  /** Some never answer, some answer late; leases pass meanwhile. Each job is done once. */
  @Test
  void eachJobIsDoneOnceHoweverManyClaimAndDie() throws InterruptedException {
    int count = 200;
    transactor.run(
        c ->
            jobs.enqueueAll(
                c,
                IntStream.range(0, count)
                    .mapToObj(
                        i -> {
                          NewJob job = job("j" + i).withMaxAttempts(1_000);
                          return i % 4 == 0 ? job.inLane("lane" + i % 5) : job;
                        })
                    .toList()));
    AtomicInteger turn = new AtomicInteger();
    ConcurrentLinkedQueue<ClaimedJob> late = new ConcurrentLinkedQueue<>();
    Race.<Boolean>of(8)
        .within(Duration.ofSeconds(100))
        .run(
            caller -> {
              while (live() > 0) {
                for (ClaimedJob job : claim(7)) {
                  int mine = turn.incrementAndGet();
                  if (mine % 5 == 0) {
                    late.add(job);
                  } else {
                    end(job, Outcome.Done.writing(c -> effect(c, job.payload())));
                  }
                  if (mine % 11 == 0) {
                    expireLeases();
                  }
                }
                ClaimedJob old = late.poll();
                if (old != null) {
                  expireLeases();
                  end(old, Outcome.Done.writing(c -> effect(c, old.payload())));
                }
              }
              return true;
            })
        .valuesOrThrow();
    List<String> names = database.query("SELECT name FROM effect", row -> row.getString(1));
    Set<String> distinct = new HashSet<>(names);
    assertThat(distinct).hasSize(count);
    assertThat(names).hasSize(count);
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_claim")).isZero();
  }
}
