package dev.lockstep.server.metric;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.Race;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RecentRateTest {
  private final AtomicLong nanoTime = new AtomicLong(-5_000_000_000L);
  private final RecentRate rate = new RecentRate(nanoTime::get);

  @Test
  void whatHappenedInTheLastTenSecondsCountsAndThenNoMore() {
    rate.add(20);
    assertThat(rate.perSecond()).isZero(); // this second is not over
    pass(1);
    assertThat(rate.perSecond()).isEqualTo(2.0);
    rate.add(10);
    pass(9);
    assertThat(rate.perSecond()).isEqualTo(3.0);
    pass(1);
    assertThat(rate.perSecond()).isEqualTo(1.0);
    pass(1);
    assertThat(rate.perSecond()).isZero();
    pass(100);
    assertThat(rate.perSecond()).isZero();
  }

  @Test
  void manyThreadsLoseNothing() throws Exception {
    Race.<Integer>of(8)
        .run(
            i -> {
              for (int n = 0; n < 1_000; n++) {
                rate.add(1);
              }
              return i;
            })
        .valuesOrThrow();
    pass(1);
    assertThat(rate.perSecond()).isEqualTo(800.0);
  }

  private void pass(int seconds) {
    nanoTime.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
  }
}
