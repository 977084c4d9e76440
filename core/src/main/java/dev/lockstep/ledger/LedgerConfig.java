package dev.lockstep.ledger;

import dev.lockstep.combine.CombinerConfig;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import java.time.Duration;

/**
 * The limits of the ledger.
 *
 * @param combiner queue, batches and transactions; a node uses {@code maxWriters} connections
 * @param maxPendingFor longest time that a transfer may be pending (30 days)
 * @param sweepBatch expired transfers that one batch ends in its accounts (5,000). If more have
 *     expired, a command that would be refused for lack of money is decided again
 */
public record LedgerConfig(CombinerConfig combiner, Duration maxPendingFor, int sweepBatch) {

  public static final int MAX_SWEEP_BATCH = 100_000;

  public static final LedgerConfig DEFAULT =
      new LedgerConfig(CombinerConfig.named("ledger"), Duration.ofDays(30), 5_000);

  public LedgerConfig {
    if (maxPendingFor.compareTo(Duration.ofSeconds(1)) < 0
        || maxPendingFor.compareTo(Duration.ofDays(3650)) > 0) {
      throw new IllegalArgumentException("maxPendingFor must be 1 s to ten years");
    }
    if (sweepBatch < 1 || sweepBatch > MAX_SWEEP_BATCH) {
      throw new IllegalArgumentException(
          "sweepBatch must be 1 to %d, is %d".formatted(MAX_SWEEP_BATCH, sweepBatch));
    }
  }

  public LedgerConfig withCombiner(CombinerConfig combiner) {
    return new LedgerConfig(combiner, maxPendingFor, sweepBatch);
  }

  public LedgerConfig withMaxPendingFor(Duration maxPendingFor) {
    return new LedgerConfig(combiner, maxPendingFor, sweepBatch);
  }

  public LedgerConfig withSweepBatch(int sweepBatch) {
    return new LedgerConfig(combiner, maxPendingFor, sweepBatch);
  }

  void requireWithinLimits(LedgerCommand<?> command) {
    if (command instanceof Linked linked) {
      linked.steps().forEach(this::requireWithinLimits);
    } else if (command instanceof Reserve reserve
        && reserve.holdFor().compareTo(maxPendingFor) > 0) {
      throw new IllegalArgumentException(
          "A transfer may be pending for at most %s, not %s"
              .formatted(maxPendingFor, reserve.holdFor()));
    }
  }
}
