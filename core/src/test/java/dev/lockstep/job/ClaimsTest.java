package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.job.ClaimEnd.Ended;
import dev.lockstep.job.ClaimEnd.Lost;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** G6 for those who do jobs outside any worker: one live lease, and only its token ends the job. */
@Timeout(120)
class ClaimsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private static final String QUEUE = "parcels";
  private static final String ANN = "service:ann";

  private Transactor transactor;
  private Jobs jobs;
  private Claims claims;

  @BeforeEach
  void begin() {
    transactor = desk.transactor();
    jobs = desk.jobs();
    claims = jobs.claims();
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
    assertThat(endAs("service:bob", given.get(1).get(0), Outcome.done())).isInstanceOf(Ended.class);
  }

  @Test
  void completionAndItsEffectsAreOneTransaction() {
    enqueue(job("a"));
    ClaimedJob claimed = claim(1).get(0);
    assertThat(end(claimed, Outcome.Done.writing(c -> effect(c, "a")))).isEqualTo(done());
    assertThat(effects()).isEqualTo(1);
    assertThat(live()).isZero();

    // Ended: the same token is worth nothing, and what was written with it is not there.
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
    Job dead = jobs.list(Job.State.DEAD, JobFilter.ALL, Optional.empty(), 10).get(0);
    assertThat(dead.attempts()).isEqualTo(3);
    assertThat(dead.reason()).hasValue(ClaimResults.UNANSWERED);
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
    assertThat(jobs.list(Job.State.RUNNING, JobFilter.ALL, Optional.empty(), 10)).hasSize(2);
    assertThat(claims.expire()).isZero();
    expireLeases();
    assertThat(claims.expire()).isEqualTo(2);
    assertThat(jobs.list(Job.State.DEAD, JobFilter.ALL, Optional.empty(), 10)).hasSize(1);
    Job b = jobs.list(Job.State.READY, JobFilter.ALL, Optional.empty(), 10).get(0);
    assertThat(b.attempts()).isEqualTo(1);
  }

  @Test
  void aRetryCountsAndWaitsAndTheLastOneIsDead() {
    enqueue(job("a").withMaxAttempts(2));
    Ended again = (Ended) end(claim(1).get(0), new Outcome.Retry("no"));
    assertThat(again.state()).isEqualTo(Job.State.SCHEDULED);
    assertThat(claim(1)).isEmpty();
    database.execute("UPDATE lockstep.job SET due = now()");
    ClaimedJob second = claim(1).get(0);
    assertThat(second.attempt()).isEqualTo(2);
    Outcome now = new Outcome.Retry("no again", Optional.of(Duration.ZERO));
    assertThat(end(second, now)).isEqualTo(new Ended(Job.State.DEAD, Optional.empty()));
    assertThat(jobs.attempts(second.id()))
        .extracting(Job.Attempt::error)
        .containsExactly("no", "no again");
  }

  @Test
  void aLaneRunsOneAtATimeInOrderAlsoThroughRetriesAndLostLeases() {
    for (int i = 0; i < 5; i++) {
      enqueue(job("x" + i).inLane("x"), job("y" + i).inLane("y"));
    }
    List<String> order = new ArrayList<>();
    int round = 0;
    for (List<ClaimedJob> some = claim(10); !some.isEmpty(); some = claim(10)) {
      assertThat(some).extracting(job -> job.lane().orElseThrow()).doesNotHaveDuplicates();
      assertThat(claim(10)).isEmpty();
      for (ClaimedJob job : some) {
        if (round % 3 == 0) {
          assertThat(end(job, new Outcome.Retry("no", Optional.of(Duration.ZERO))))
              .isInstanceOf(Ended.class);
        } else if (round % 3 == 1) {
          expireLeases();
        } else {
          order.add(job.payload());
          assertThat(end(job, Outcome.done())).isEqualTo(done());
        }
      }
      round++;
    }
    assertThat(order.stream().filter(p -> p.startsWith("\"x")))
        .containsExactly("\"x0\"", "\"x1\"", "\"x2\"", "\"x3\"", "\"x4\"");
    assertThat(order).hasSize(10);
  }

  @Test
  void theLaneWaitsForAJobThatWasCancelledWhileItWasClaimed() {
    enqueue(job("1").inLane("x"), job("2").inLane("x"));
    ClaimedJob first = claim(5).get(0);
    transactor.run(c -> jobs.cancel(c, first.id(), OptionalInt.empty()));
    assertThat(claim(5)).isEmpty();
    assertThat(end(first, Outcome.Done.writing(c -> effect(c, "1")))).isInstanceOf(Lost.class);
    assertThat(effects()).isZero();
    claims.giveBackIfChanged(first.token(), ANN);
    assertThat(payloads(claim(5))).containsExactly("\"2\"");
  }

  @Test
  void aLaneWithALimitHasAsManyAtATime() {
    for (int i = 0; i < 6; i++) {
      enqueue(job("x" + i).inLane(new NewJob.Lane("x", 2)), job("free" + i));
    }
    List<ClaimedJob> some = claim(20);
    assertThat(some.stream().filter(job -> job.lane().isPresent())).hasSize(2);
    assertThat(some).hasSize(8);
    assertThat(
            end(
                some.stream().filter(j -> j.lane().isPresent()).findFirst().orElseThrow(),
                Outcome.done()))
        .isEqualTo(done());
    assertThat(claim(20)).hasSize(1);
  }

  @Test
  void theUrgentComeFirst() {
    for (int i = 0; i < 20; i++) {
      enqueue(
          job("low").withPriority(Priority.LOW),
          job("normal"),
          job("high").withPriority(Priority.HIGH));
    }
    assertThat(payloads(claim(30)))
        .startsWith("\"high\"")
        .filteredOn("\"high\""::equals)
        .hasSize(20);
    assertThat(payloads(claim(30))).filteredOn("\"low\""::equals).hasSize(20);
  }

  @Test
  void aPausedQueueGivesNothingAndALimitedOneLittle() {
    for (int i = 0; i < 50; i++) {
      enqueue(job("a"));
    }
    jobs.pause(QUEUE);
    assertThat(claim(10)).isEmpty();
    jobs.resume(QUEUE);
    jobs.limitRate(QUEUE, OptionalDouble.of(0.01));
    assertThat(claim(10)).hasSize(1);
    Claims.Taken none = claims.claim(QUEUE, List.of(new ClaimAsk(ANN, 10, Desk.LONG)));
    assertThat(none.jobs().get(0)).isEmpty();
    assertThat(none.nextMs().orElseThrow()).isBetween(1L, 100_000L);
    jobs.limitRate(QUEUE, OptionalDouble.empty());
    assertThat(claim(10)).hasSize(10);
  }

  @Test
  void itIsToldWhenTheNextIsDue() {
    assertThat(ask().nextMs()).isEmpty();
    enqueue(job("a").at(Instant.now().plusSeconds(600)));
    assertThat(ask().nextMs().orElseThrow()).isBetween(1L, 660_000L);
    enqueue(job("b"));
    claims.claim(QUEUE, List.of(new ClaimAsk(ANN, 1, Duration.ofSeconds(60))));
    assertThat(ask().nextMs().orElseThrow()).isBetween(1L, 60_000L);
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
    assertThatThrownBy(() -> new ClaimAsk(ANN, 101, Desk.LONG))
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

  private static NewJob job(String name) {
    return NewJob.of(QUEUE, "send", "\"" + name + "\"");
  }

  private void enqueue(NewJob... some) {
    transactor.run(c -> jobs.enqueueAll(c, List.of(some)));
  }

  private List<ClaimedJob> claim(int max) {
    return claims
        .claim(QUEUE, List.of(new ClaimAsk(ANN, max, Duration.ofMinutes(10))))
        .jobs()
        .get(0);
  }

  private Claims.Taken ask() {
    return claims.claim(QUEUE, List.of(new ClaimAsk(ANN, 1, Desk.LONG)));
  }

  private ClaimEnd end(ClaimedJob job, Outcome outcome) {
    return endAs(ANN, job, outcome);
  }

  /** As a caller does it: what is lost is rolled back. */
  private ClaimEnd endAs(String claimer, ClaimedJob job, Outcome outcome) {
    ClaimEnd[] ended = new ClaimEnd[1];
    try {
      transactor.run(
          c -> {
            ended[0] = claims.end(c, job.token(), claimer, outcome);
            if (ended[0] instanceof Lost) {
              throw new RolledBack();
            }
          });
    } catch (RolledBack e) {
      // As intended.
    }
    return ended[0];
  }

  private static final class RolledBack extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private static Ended done() {
    return new Ended(Job.State.DONE, Optional.empty());
  }

  private static List<String> payloads(List<ClaimedJob> some) {
    return some.stream().map(ClaimedJob::payload).toList();
  }

  private static void expireLeases() {
    database.execute("UPDATE lockstep.job_claim SET expires_at = now() - interval '1 second'");
  }

  private static void effect(Connection connection, String name) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO effect (name) VALUES (?)")) {
      insert.setString(1, name);
      insert.executeUpdate();
    }
  }

  private static long effects() {
    return database.queryLong("SELECT count(*) FROM effect");
  }

  private static long live() {
    return database.queryLong("SELECT count(*) FROM lockstep.job");
  }
}
