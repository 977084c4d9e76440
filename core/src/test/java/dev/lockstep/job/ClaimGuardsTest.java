package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.ClaimEnd.Lost;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a claim is decided by may change between the look and the write. */
@Timeout(120)
class ClaimGuardsTest extends ClaimScene {
  @RegisterExtension static final TestDatabase SHARED = TestDatabase.migrated();

  private static final String ROWS = "SELECT count(*) FROM lockstep.job_claim_queue";

  ClaimGuardsTest() {
    super(SHARED, Desk.QUEUE);
  }

  @Test
  void aJobThatIsPutOffBetweenTheLookAndTheClaimIsNotClaimed() throws Exception {
    enqueue(job("a"));
    JobId id = jobs.list(JobState.READY, JobFilter.ALL, Optional.empty(), 10).get(0).id();
    try (HeldStatement way = HeldStatement.on(database)) {
      CompletableFuture<List<ClaimedJob>> claimed = claimHeldUp(way);
      Instant later = Instant.now().plus(Desk.LONG);
      transactor.run(c -> jobs.runAt(c, id, OptionalInt.empty(), later));
      way.release();
      assertThat(claimed.get(30, TimeUnit.SECONDS)).isEmpty();
    }
  }

  @Test
  void aWorkerThatComesWaitsForAClaimThatIsUnderWayAndLeavesItsJobAlone() throws Exception {
    assertThat(claim(1)).isEmpty();
    enqueue(job("a"));
    try (HeldStatement way = HeldStatement.on(database)) {
      CompletableFuture<List<ClaimedJob>> claimed = claimHeldUp(way);
      desk.start(1, desk::note);
      Await.blocked(database, 1);
      way.release();
      ClaimedJob mine = claimed.get(30, TimeUnit.SECONDS).get(0);
      enqueue(job("b"));
      Await.until("it runs what is not claimed", () -> !desk.ran.isEmpty());
      assertThat(end(mine, Outcome.done())).isEqualTo(done());
      assertThat(desk.ran).containsExactly("\"b\"");
    }
  }

  @Test
  void theRowOfAQueueThatIsRemovedWhileAClaimWaitsForItIsMadeAgain() throws Exception {
    assertThat(claim(1)).isEmpty();
    enqueue(job("a"));
    try (Connection remover = database.connection()) {
      remover.setAutoCommit(false);
      Sql.execute(remover, "SELECT 1 FROM lockstep.job_claim_queue FOR UPDATE");
      CompletableFuture<List<ClaimedJob>> claimed = CompletableFuture.supplyAsync(() -> claim(1));
      Await.blocked(database, 1);
      Sql.execute(remover, "DELETE FROM lockstep.job_claim_queue");
      remover.commit();
      assertThat(claimed.get(30, TimeUnit.SECONDS)).hasSize(1);
    }
    assertThat(database.queryLong(ROWS)).isEqualTo(1);
  }

  @Test
  void aQueueThatNobodyClaimsFromAnyMoreLeavesNoRow() {
    enqueue(job("a"));
    ClaimedJob mine = claim(1).get(0);
    database.execute(
        """
        INSERT INTO lockstep.job_claim_queue (queue) SELECT 'once ' || n FROM generate_series(1, 2500) n;
        INSERT INTO lockstep.job_claim_queue (queue, next_start)
        VALUES ('slow', now() + interval '1 hour'), ('long ago', now() - interval '1 hour')""");
    jobs.maintain();
    assertThat(database.queryLong(ROWS))
        .as("the claimed one, and the one whose rate counts")
        .isEqualTo(2);
    assertThat(end(mine, Outcome.done())).isEqualTo(done());
    jobs.maintain();
    assertThat(database.queryLong(ROWS)).isEqualTo(1);
  }

  /** Claims, and is held up when it has found the jobs and has not yet written the claims. */
  private CompletableFuture<List<ClaimedJob>> claimHeldUp(HeldStatement way)
      throws InterruptedException {
    Claims slow = new Jobs(new Transactor(way.dataSource()), Desk.config()).claims();
    way.hold("WITH claimed AS");
    CompletableFuture<List<ClaimedJob>> claimed =
        CompletableFuture.supplyAsync(
            () -> slow.claim(queue, List.of(new ClaimAsk(ANN, 1, Desk.LONG))).jobs().get(0));
    way.awaitHeld();
    return claimed;
  }

  @Test
  void aJobThatWasChangedWhileItWasClaimedIsNeitherCountedNorExtended() {
    enqueue(job("last").withMaxAttempts(1), job("a"));
    List<ClaimedJob> claimed = claim(2);
    for (ClaimedJob job : claimed) {
      transactor.run(c -> jobs.payload(c, job.id(), OptionalInt.empty(), "\"new\""));
      assertThat(claims.extend(job.token(), ANN, Optional.empty())).isEmpty();
    }
    expireLeases();
    assertThat(claims.expire()).isEqualTo(2);
    assertThat(claim(2)).extracting(ClaimedJob::attempt).containsExactly(1, 1);
  }

  @Test
  void aLeaseThatPassesWhileItsEndWaitsForTheJobIsLost() throws Exception {
    enqueue(job("a"));
    ClaimAsk ask = new ClaimAsk(ANN, 1, Duration.ofSeconds(2));
    ClaimedJob mine = claims.claim(queue, List.of(ask)).jobs().get(0).get(0);
    try (Connection somebody = database.connection()) {
      somebody.setAutoCommit(false);
      Sql.execute(somebody, "SELECT 1 FROM lockstep.job FOR UPDATE");
      CompletableFuture<ClaimEnd> end =
          CompletableFuture.supplyAsync(
              () -> end(mine, Outcome.Done.writing(c -> effect(c, "late"))));
      Await.until("the lease has passed", () -> database.queryLong(PASSED) == 1);
      somebody.rollback();
      assertThat(end.get(30, TimeUnit.SECONDS)).isInstanceOf(Lost.class);
    }
    assertThat(effects()).isZero();
  }

  private static final String PASSED =
      "SELECT count(*) FROM lockstep.job_claim WHERE expires_at <= clock_timestamp()";

  @Test
  void aRateThatIsRaisedHoldsForTheNextClaim() {
    enqueue(job("1"), job("2"));
    jobs.limitRate(queue, OptionalDouble.of(0.001));
    assertThat(claim(2)).hasSize(1);
    assertThat(claim(2)).isEmpty();
    jobs.limitRate(queue, OptionalDouble.of(100));
    AtomicInteger got = new AtomicInteger();
    Await.until("the next", () -> got.addAndGet(claim(2).size()) == 1);
  }

  @Test
  void aSlowRateIsWaitedForHoweverOftenSomebodyAsks() {
    enqueue(job("1"), job("2"));
    jobs.limitRate(queue, OptionalDouble.of(0.001));
    assertThat(claim(2)).hasSize(1);
    for (int i = 0; i < 5; i++) {
      assertThat(claim(2)).isEmpty();
    }
    assertThat(ask().nextMs().orElseThrow()).isBetween(1L, 1_000_000L);
  }
}
