package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.ClaimEnd.Lost;
import dev.lockstep.job.ClaimEnd.Recorded;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Lanes, priorities, pause and rate hold for jobs that are claimed, too. */
@Timeout(120)
class ClaimOrderTest extends ClaimScene {
  @RegisterExtension static final TestDatabase SHARED = TestDatabase.migrated();

  ClaimOrderTest() {
    super(SHARED);
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
              .isInstanceOf(Recorded.class);
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
  void claimersThatRaceNeverHaveTwoOfALane() throws InterruptedException {
    for (int i = 0; i < 60; i++) {
      enqueue(job("j" + i).inLane("lane" + i % 4));
    }
    for (int round = 0; round < 15; round++) {
      List<ClaimedJob> all =
          Race.<List<ClaimedJob>>of(6).run(caller -> claim(10)).valuesOrThrow().stream()
              .flatMap(List::stream)
              .toList();
      assertThat(all).extracting(job -> job.lane().orElseThrow()).doesNotHaveDuplicates();
      assertThat(all).hasSize(4);
      all.forEach(job -> assertThat(end(job, Outcome.done())).isEqualTo(done()));
    }
    assertThat(live()).isZero();
  }

  @Test
  void aDeepLaneHidesNeitherItsNextJobNorWhatIsBehindIt() {
    int deep = 3 * ClaimableJobs.WALK;
    List<NewJob> lane = new ArrayList<>();
    for (int i = 0; i < deep; i++) {
      lane.add(job("deep" + i).inLane("deep"));
    }
    enqueue(lane.toArray(NewJob[]::new));
    List<NewJob> behind = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      // Other lanes, whose jobs come two at a time, and none.
      behind.add(
          i % 4 == 0
              ? job("pair").inLane(new NewJob.Lane("pair" + i % 8, 2))
              : i % 4 == 1 ? job("lane").inLane("lane" + i) : job("free"));
    }
    enqueue(behind.toArray(NewJob[]::new));
    List<ClaimedJob> some = claim(500);
    // 20 free, 10 in lanes of their own, two of each pair, and the first of the deep lane.
    assertThat(some).hasSize(20 + 10 + 4 + 1);
    assertThat(payloads(some)).contains("\"deep0\"").doesNotContain("\"deep1\"");
    assertThat(claim(500)).isEmpty();
    some.forEach(job -> assertThat(end(job, Outcome.done())).isEqualTo(done()));
    for (int i = 1; i < 4; i++) {
      List<ClaimedJob> next = claim(500);
      assertThat(payloads(next)).contains("\"deep" + i + "\"");
      assertThat(payloads(next).stream().filter(name -> name.contains("deep"))).hasSize(1);
      next.forEach(job -> assertThat(end(job, Outcome.done())).isEqualTo(done()));
    }
    assertThat(live()).isEqualTo(deep - 4);
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
}
