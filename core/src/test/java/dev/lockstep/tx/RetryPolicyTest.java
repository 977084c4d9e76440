package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.stream.IntStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

/** Backoff: full jitter below an exponential bound, whatever the numbers. */
class RetryPolicyTest {

  @Property
  void everyWaitIsBetweenZeroAndItsBound(
      @ForAll @IntRange(min = 1, max = 10_000) int attempt,
      @ForAll @LongRange(min = 1, max = 1_000_000_000_000L) long firstNanos,
      @ForAll @LongRange(min = 0, max = 1_000_000_000_000L) long more) {
    Duration first = Duration.ofNanos(firstNanos);
    Duration max = first.plusNanos(more);
    RetryPolicy retry = new RetryPolicy(10_000, first, max);

    Duration wait = retry.backoffAfter(attempt);

    Duration bound = attempt <= 20 ? first.multipliedBy(1L << (attempt - 1)) : max;
    assertThat(wait).isBetween(Duration.ZERO, bound.compareTo(max) < 0 ? bound : max);
  }

  @Example
  void callersThatCollidedDoNotWaitInStep() {
    long different =
        IntStream.range(0, 100)
            .mapToObj(i -> RetryPolicy.DEFAULT.backoffAfter(8))
            .distinct()
            .count();

    assertThat(different).isGreaterThan(50);
  }

  @Example
  void limitsAreChecked() {
    Duration ms = Duration.ofMillis(1);
    assertThatIllegalArgumentException().isThrownBy(() -> new RetryPolicy(0, ms, ms));
    assertThatIllegalArgumentException().isThrownBy(() -> new RetryPolicy(1, Duration.ZERO, ms));
    assertThatIllegalArgumentException().isThrownBy(() -> new RetryPolicy(1, ms.negated(), ms));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RetryPolicy(1, ms, Duration.ofNanos(999_999)));
    assertThat(new RetryPolicy(1, ms, ms)).isEqualTo(RetryPolicy.NEVER);
  }
}
