package dev.lockstep.hold;

import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Extend;
import java.time.Duration;

/**
 * The limits of the hold block.
 *
 * @param combiner queue, batches and transactions; a node uses {@code maxWriters} connections
 * @param maxHoldFor longest time that one acquire or extend may ask for (24 h)
 * @param maxLifetime longest time from acquiring a hold to its expiry, including all extensions (48
 *     h)
 * @param sweepBatch expired holds that one batch takes back (500)
 */
public record HoldsConfig(
    CombinerConfig combiner, Duration maxHoldFor, Duration maxLifetime, int sweepBatch) {

  public static final int MAX_SWEEP_BATCH = 100_000;

  public static final HoldsConfig DEFAULT =
      new HoldsConfig(
          CombinerConfig.named("holds"), Duration.ofHours(24), Duration.ofHours(48), 500);

  public HoldsConfig {
    if (maxHoldFor.compareTo(Duration.ofSeconds(1)) < 0 || maxLifetime.compareTo(maxHoldFor) < 0) {
      throw new IllegalArgumentException(
          "maxHoldFor must be at least 1 s and not exceed maxLifetime");
    }
    if (maxLifetime.compareTo(Duration.ofDays(3650)) > 0) {
      throw new IllegalArgumentException("maxLifetime must not exceed ten years");
    }
    if (sweepBatch < 1 || sweepBatch > MAX_SWEEP_BATCH) {
      throw new IllegalArgumentException(
          "sweepBatch must be 1 to %d, is %d".formatted(MAX_SWEEP_BATCH, sweepBatch));
    }
  }

  public HoldsConfig withCombiner(CombinerConfig combiner) {
    return new HoldsConfig(combiner, maxHoldFor, maxLifetime, sweepBatch);
  }

  public HoldsConfig withMaxHoldFor(Duration maxHoldFor) {
    return new HoldsConfig(combiner, maxHoldFor, maxLifetime, sweepBatch);
  }

  public HoldsConfig withMaxLifetime(Duration maxLifetime) {
    return new HoldsConfig(combiner, maxHoldFor, maxLifetime, sweepBatch);
  }

  public HoldsConfig withSweepBatch(int sweepBatch) {
    return new HoldsConfig(combiner, maxHoldFor, maxLifetime, sweepBatch);
  }

  /**
   * Checks the time that a command asks for.
   *
   * @throws IllegalArgumentException if it asks for more than the maximum time
   */
  void requireWithinLimits(HoldCommand<?> command) {
    Duration holdFor = null;
    if (command instanceof Acquire acquire) {
      holdFor = acquire.holdFor();
    } else if (command instanceof Extend extend) {
      holdFor = extend.holdFor();
    }
    if (holdFor != null && holdFor.compareTo(maxHoldFor) > 0) {
      throw new IllegalArgumentException(
          "A hold may last at most %s from now, not %s".formatted(maxHoldFor, holdFor));
    }
  }
}
