package dev.lockstep.combine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** By a clock of the test's own. */
class CacheTrustTest {
  private static final Instant READ = Instant.parse("2026-01-01T00:00:00Z");

  private final CacheTrust trust = new CacheTrust(Duration.ofSeconds(10));

  @Test
  void aClockThatWasNeverReadTellsNoTime() {
    assertThat(trust.begin(after(Duration.ZERO))).isEmpty();
  }

  @Test
  void aClockThatWasReadIsCarriedOn() {
    trust.read(READ, after(Duration.ZERO));

    assertThat(trust.begin(after(Duration.ofSeconds(9)))).contains(READ.plusSeconds(9));
  }

  @Test
  void theTimeIsToTheMicrosecondAsInTheDatabase() {
    trust.read(READ, after(Duration.ZERO));

    assertThat(trust.begin(after(Duration.ofNanos(3_999)))).contains(READ.plusNanos(3_000));
  }

  @Test
  void aClockReadTooLongAgoIsReadAgain() {
    trust.read(READ, after(Duration.ZERO));

    assertThat(trust.begin(after(Duration.ofSeconds(10)))).isEmpty();
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
    assertThat(trust.confirm()).isTrue();

    assertThat(pauseAfterAMiss(Duration.ofSeconds(3))).isEqualTo(Duration.ofMillis(100));
  }

  @Test
  void whoReadEverythingDidNotRelyOnMemory() {
    var unused = trust.begin(after(Duration.ZERO));

    assertThat(trust.confirm()).isFalse();
  }

  /** Misses at a time, and tells for how long nothing is relied on then. */
  private Duration pauseAfterAMiss(Duration at) {
    relyAt(at);
    for (Duration pause = Duration.ZERO; ; pause = pause.plusMillis(100)) {
      trust.read(READ, after(at.plus(pause)));
      if (trust.begin(after(at.plus(pause))).isPresent()) {
        return pause;
      }
    }
  }

  private void relyAt(Duration at) {
    trust.read(READ, after(at));
    assertThat(trust.begin(after(at))).isPresent();
    trust.rely();
  }

  /** Of a clock that begins anywhere, and runs over. */
  private static long after(Duration duration) {
    return Long.MAX_VALUE - 5 + duration.toNanos();
  }
}
