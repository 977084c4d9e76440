package dev.lockstep.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.ledger.LedgerCommand.Move;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The clock that is carried on, by a clock of the test's own. */
class BookMemoryTest {
  private static final Instant READ = Instant.parse("2026-01-01T00:00:00Z");
  private static final BookId BOOK = new BookId(1);

  private final BookMemory memory = new BookMemory();

  @Test
  void aClockThatWasNeverReadTellsNoTime() {
    assertThat(memory.presume(move(), nanos(0))).isEmpty();
    assertThat(memory.recall(List.of(move()), nanos(0))).isEmpty();
  }

  @Test
  void whoComesEveryFewSecondsIsToldTheTimeWithoutReadingIt() {
    learn();

    assertThat(memory.presume(move(), nanos(9))).contains(READ.plusSeconds(9));
  }

  @Test
  void aClockReadTooLongAgoIsReadAgain() {
    learn();

    assertThat(memory.presume(move(), nanos(10))).isEmpty();
    assertThat(memory.recall(List.of(), nanos(10))).isEmpty();
  }

  private void learn() {
    Plan nothing = new Plan(READ, List.of(), List.of(), List.of(), List.of(), List.of());
    memory.learn(LedgerState.unseen(READ), nanos(0), nothing);
  }

  /** Of a clock that begins anywhere. */
  private static long nanos(int seconds) {
    return Long.MAX_VALUE - 5 + Duration.ofSeconds(seconds).toNanos();
  }

  private static Move move() {
    return new Move(
        BOOK, TransferId.next(), new AccountId(1), new AccountId(2), new Money(1, "JPY"));
  }
}
