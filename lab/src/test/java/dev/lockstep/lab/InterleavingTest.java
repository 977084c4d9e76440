package dev.lockstep.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.tx.Isolation;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Steps interleave in one way, and the timeline tells it as it was. */
@Timeout(60)
class InterleavingTest {
  @RegisterExtension static final LabServer server = new LabServer();

  @RepeatedTest(3)
  void whoMustWaitIsSeenToWaitAndForWhom() {
    Timeline timeline = run("last-unit", Isolation.READ_COMMITTED, Variant.NAIVE);

    PlayedStep write = step(timeline, 7);
    assertThat(write.session()).isEqualTo("Bob");
    assertThat(write.sql()).isEqualTo("UPDATE item SET stock = ? WHERE id = 1");
    assertThat(write.parameters()).containsExactly("0");
    assertThat(write.blockedBy()).containsExactly("Ann");
    assertThat(write.awaitedLock()).hasValue("ShareLock on transactionid");
    // It went on only after the commit that it waited for had been sent.
    PlayedStep commit = step(timeline, 8);
    assertThat(commit.sql()).isEqualTo("COMMIT");
    assertThat(write.blockedUs().orElseThrow()).isBetween(write.startedUs(), commit.startedUs());
    assertThat(write.finishedUs()).isGreaterThan(commit.startedUs());
    assertThat(write.outcome()).isEqualTo(new Outcome.Changed(1));
    assertThat(timeline.steps()).filteredOn(step -> step.blockedUs().isPresent()).hasSize(1);
  }

  /** What a waiting session has yet to do is done in its own order, when it can be. */
  @Test
  void theRestOfAWaitingSessionComesAfterItsWait() {
    Timeline timeline = run("pmp", Isolation.READ_COMMITTED, Variant.LOCKSTEP);

    List<PlayedStep> ofB =
        timeline.steps().stream()
            .filter(step -> step.session().equals("B"))
            .sorted(Comparator.comparingLong(PlayedStep::startedUs))
            .toList();
    assertThat(ofB).extracting(PlayedStep::number).isSorted();
    PlayedStep lock = ofB.get(1);
    assertThat(lock.blockedBy()).containsExactly("A");
    assertThat(ofB.get(2).startedUs()).isGreaterThanOrEqualTo(lock.finishedUs());
    assertThat(timeline.steps()).extracting(PlayedStep::number).isSorted();
  }

  @Test
  void aTransactionThatHasFailedIsRolledBackAndDoesNothingMore() {
    Timeline timeline = run("last-unit", Isolation.REPEATABLE_READ, Variant.NAIVE);

    assertThat(step(timeline, 7).outcome())
        .isInstanceOfSatisfying(
            Outcome.Failed.class, failed -> assertThat(failed.sqlState()).isEqualTo("40001"));
    assertThat(step(timeline, 9).outcome())
        .isEqualTo(new Outcome.Skipped("the transaction has failed"));
    assertThat(step(timeline, 10).sql()).isEqualTo("ROLLBACK");
    assertThat(timeline.verdict().brief()).isEqualTo("prevented, 40001");
  }

  @Test
  void theVictimOfADeadlockIsWhoLookedAndNotWhoDidLess() {
    Timeline timeline = run("deadlock-victim", Isolation.READ_COMMITTED, Variant.NAIVE);

    List<PlayedStep> failed =
        timeline.steps().stream().filter(step -> step.outcome() instanceof Outcome.Failed).toList();
    assertThat(failed)
        .singleElement()
        .satisfies(
            step -> {
              assertThat(step.session()).isEqualTo("Big");
              assertThat(step.outcome())
                  .isInstanceOfSatisfying(
                      Outcome.Failed.class, f -> assertThat(f.sqlState()).isEqualTo("40P01"));
            });
    assertThat(timeline.finalState().rows()).containsExactly(List.of("0", "8"));
  }

  /** The library's own retry, with the attempts it made. */
  @Test
  void lockstepRetriesTheWholeTransaction() {
    Timeline timeline = run("retry-inside", Isolation.REPEATABLE_READ, Variant.LOCKSTEP);

    PlayedStep code = step(timeline, 3);
    assertThat(code.blockedBy()).containsExactly("Ann");
    assertThat(code.outcome())
        .isEqualTo(
            new Outcome.Rows(
                List.of("attempt", "read", "ended"),
                List.of(List.of("1", "100", "serialization"), List.of("2", "90", "committed"))));
    assertThat(timeline.finalState().rows()).containsExactly(List.of("70"));
  }

  @Test
  void aTimelineIsDrawnForATerminal() {
    String text = TimelineText.of(run("last-unit", Isolation.READ_COMMITTED, Variant.NAIVE), 100);

    assertThat(text.lines().toList())
        .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(100));
    assertThat(text)
        .contains("The last unit, sold twice", "last-unit · naive · read committed · PostgreSQL ")
        .containsPattern("  7 +UPDATE item SET stock = \\? WHERE id =")
        .contains("┆ waits for Ann (ShareLock on", "└ 1 row", "stock = 0, sales = 2")
        .contains("It happened. 2 sales of 1 unit", "Why: Both read stock 1", "Cure: Lock the row");
  }

  private static Timeline run(String id, Isolation isolation, Variant variant) {
    return server.lab().run(Lab.scenario(id).orElseThrow(), isolation, variant);
  }

  private static PlayedStep step(Timeline timeline, int number) {
    return timeline.steps().get(number - 1);
  }
}
