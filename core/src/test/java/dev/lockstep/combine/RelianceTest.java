package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** By a clock of the test's own. */
class RelianceTest {
  private static final Instant READ = Instant.parse("2026-01-01T00:00:00Z");

  private final Reliance reliance = new Reliance(Duration.ofSeconds(10));

  @Test
  void aClockThatWasNeverReadTellsNoTime() {
    assertThat(reliance.begin(after(Duration.ZERO))).isEmpty();
  }

  @Test
  void aClockThatWasReadIsCarriedOn() {
    reliance.read(READ, after(Duration.ZERO));

    assertThat(reliance.begin(after(Duration.ofSeconds(9)))).contains(READ.plusSeconds(9));
  }

  @Test
  void theTimeIsToTheMicrosecondAsInTheDatabase() {
    reliance.read(READ, after(Duration.ZERO));

    assertThat(reliance.begin(after(Duration.ofNanos(3_999)))).contains(READ.plusNanos(3_000));
  }

  @Test
  void aClockReadTooLongAgoIsReadAgain() {
    reliance.read(READ, after(Duration.ZERO));

    assertThat(reliance.begin(after(Duration.ofSeconds(10)))).isEmpty();
  }

  @Test
  void afterAMissNothingIsReliedOnForAWhileWhichIsLongerEachTime() {
    assertThat(pauseAfterAMiss(Duration.ZERO)).isEqualTo(Duration.ofMillis(100));
    assertThat(pauseAfterAMiss(Duration.ofSeconds(1))).isEqualTo(Duration.ofMillis(200));
    assertThat(pauseAfterAMiss(Duration.ofSeconds(2))).isEqualTo(Duration.ofMillis(400));
  }

  @Test
  void theWhileDoesNotGrowForEver() {
    Duration pause = Duration.ZERO;
    for (int minute = 0; minute < 20; minute++) {
      pause = pauseAfterAMiss(Duration.ofMinutes(minute));
    }
    assertThat(pause).isEqualTo(Duration.ofMillis(12_800));
  }

  @Test
  void whatIsConfirmedIsForgiven() {
    pauseAfterAMiss(Duration.ZERO);
    pauseAfterAMiss(Duration.ofSeconds(1));

    relyAt(Duration.ofSeconds(2));
    assertThat(reliance.confirm()).isTrue();

    assertThat(pauseAfterAMiss(Duration.ofSeconds(3))).isEqualTo(Duration.ofMillis(100));
  }

  @Test
  void whoReadEverythingDidNotRelyOnMemory() {
    var unused = reliance.begin(after(Duration.ZERO));

    assertThat(reliance.confirm()).isFalse();
  }

  /** Misses at a time, and tells for how long nothing is relied on then. */
  private Duration pauseAfterAMiss(Duration at) {
    relyAt(at);
    for (Duration pause = Duration.ZERO; ; pause = pause.plusMillis(100)) {
      reliance.read(READ, after(at.plus(pause)));
      if (reliance.begin(after(at.plus(pause))).isPresent()) {
        return pause;
      }
    }
  }

  private void relyAt(Duration at) {
    reliance.read(READ, after(at));
    assertThat(reliance.begin(after(at))).isPresent();
    reliance.rely();
  }

  /** Of a clock that begins anywhere, and runs over. */
  private static long after(Duration duration) {
    return Long.MAX_VALUE - 5 + duration.toNanos();
  }
}
