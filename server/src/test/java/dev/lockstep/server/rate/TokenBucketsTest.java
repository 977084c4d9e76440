package dev.lockstep.server.rate;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TokenBucketsTest {
  private final AtomicLong now = new AtomicLong();
  private final TokenBuckets buckets = new TokenBuckets("test", new Rate(2, 4), now::get, 100);

  @Test
  void aBurstThenASteadyRate() {
    for (int left = 3; left >= 0; left--) {
      Allowance taken = buckets.take("a");
      assertThat(taken.granted()).isTrue();
      assertThat(taken.remaining()).isEqualTo(left);
    }
    Allowance refused = buckets.take("a");
    assertThat(refused.retryAfter()).hasValue(Duration.ofMillis(500));
    assertThat(refused.remaining()).isZero();
    assertThat(refused.untilFull()).isEqualTo(Duration.ofSeconds(2));
    now.addAndGet(500_000_000);
    assertThat(buckets.take("a").granted()).isTrue();
    assertThat(buckets.take("a").granted()).isFalse();
    assertThat(buckets.take("b").granted()).isTrue();
  }

  @Test
  void lookingTakesNothing() {
    for (int i = 0; i < 4; i++) {
      assertThat(buckets.look("a").granted()).isTrue();
      assertThat(buckets.look("a").remaining()).isEqualTo(4 - i);
      buckets.take("a");
    }
    assertThat(buckets.look("a").retryAfter()).hasValue(Duration.ofMillis(500));
  }

  @Test
  void whatIsGivenBackMayBeTakenAgainAndNoMore() {
    for (int i = 0; i < 4; i++) {
      buckets.take("a");
    }
    buckets.giveBack("a");
    assertThat(buckets.take("a").granted()).isTrue();
    assertThat(buckets.take("a").granted()).isFalse();
    for (int i = 0; i < 9; i++) {
      buckets.giveBack("a");
    }
    assertThat(buckets.look("a").remaining()).isEqualTo(4);
    assertThat(buckets.size()).isZero();
  }

  @Test
  void theFieldsAreStructured() {
    Allowance taken = buckets.take("a");
    assertThat(taken.policyField()).isEqualTo("\"test\";q=4;w=2");
    assertThat(taken.field()).isEqualTo("\"test\";r=3;t=1");
  }

  @Test
  void memoryIsBoundedHoweverManyCome() {
    for (int i = 0; i < 1_000; i++) {
      buckets.take("busy " + i);
    }
    assertThat(buckets.size()).isLessThanOrEqualTo(100);
  }
}
