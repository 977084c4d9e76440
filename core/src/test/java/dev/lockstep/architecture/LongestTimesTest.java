package dev.lockstep.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.hold.HoldsConfig;
import dev.lockstep.job.WorkerConfig;
import dev.lockstep.ledger.LedgerConfig;
import dev.lockstep.outbox.OutboxConfig;
import dev.lockstep.outbox.RelayConfig;
import dev.lockstep.outbox.SinkSpec;
import dev.lockstep.shard.ShardsConfig;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * "For ever" is refused where it is said. Computed with later, such a time overflows: a worker that
 * waits for ever for its jobs would not hand its shards over, and one sink that is given up after
 * 100,000 years would keep the events of all from being freed.
 */
class LongestTimesTest {
  private static final Duration TEN_YEARS = Duration.ofDays(3650);

  private static Stream<Arguments> times() {
    return Stream.of(
        time("gather", time -> made(CombinerConfig.named("c").withGather(time), time)),
        time("drain", time -> made(CombinerConfig.named("c").withDrainTimeout(time), time)),
        time("close shards", time -> made(ShardsConfig.of("g", "n").withCloseTimeout(time), time)),
        time("poll jobs", time -> made(WorkerConfig.named("n").withPollInterval(time), time)),
        time("mark jobs", time -> made(WorkerConfig.named("n").withMarkAfter(time), time)),
        time("stop jobs", time -> made(WorkerConfig.named("n").withStopTimeout(time), time)),
        time("keep events", time -> made(OutboxConfig.DEFAULT.withRetention(time), time)),
        time("hint", time -> made(new OutboxConfig(1, 1, TEN_YEARS, time), time)),
        time("poll events", time -> made(RelayConfig.named("n").withPollInterval(time), time)),
        time("deliver", time -> made(RelayConfig.named("n").withDeliverTimeout(time), time)),
        time("pause", time -> made(RelayConfig.named("n").withPauses(time, time), time)),
        time("maintain", time -> made(RelayConfig.named("n").withMaintenanceInterval(time), time)),
        time("give up", time -> made(SinkSpec.of("s", "log", "").givingUpAfter(time), time)));
  }

  private static Arguments time(String name, UnaryOperator<Duration> making) {
    return Arguments.of(name, making);
  }

  private static Duration made(Object configuration, Duration with) {
    assertThat(configuration).isNotNull();
    return with;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("times")
  void tenYearsAreTheLongest(String name, UnaryOperator<Duration> making) {
    assertThat(making.apply(TEN_YEARS)).isEqualTo(TEN_YEARS);
    assertThatThrownBy(() -> making.apply(TEN_YEARS.plusNanos(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ten years");
    assertThatThrownBy(() -> making.apply(ChronoUnit.FOREVER.getDuration()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** One more than the greatest int would be less than nothing. */
  @Test
  void aSweepTakesNoMoreThanAStatementCan() {
    assertThat(HoldsConfig.DEFAULT.withSweepBatch(HoldsConfig.MAX_SWEEP_BATCH).sweepBatch())
        .isEqualTo(100_000);
    assertThatThrownBy(() -> HoldsConfig.DEFAULT.withSweepBatch(HoldsConfig.MAX_SWEEP_BATCH + 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> LedgerConfig.DEFAULT.withSweepBatch(LedgerConfig.MAX_SWEEP_BATCH + 1))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
