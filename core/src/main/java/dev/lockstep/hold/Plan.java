package dev.lockstep.hold;

import dev.lockstep.combine.CommandDecision;
import dev.lockstep.hold.ScopeState.StoredHold;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a batch writes, and what it decided.
 *
 * @param now the batch's clock
 * @param newHolds holds to insert, in their final state
 * @param changedHolds holds to update, with their new content
 * @param units units whose owner changed
 * @param quotaDeltas change of each buyer's use; never zero
 * @param buyerLimit the limit that the quota guard compares with; 0 if the scope has none
 * @param audit the stock changes in order
 * @param pools the pools' new counters
 * @param decisions one per command, in the order of the commands; on the caller's connection none
 *     after the first that must be decided again
 */
record Plan(
    Instant now,
    List<StoredHold> newHolds,
    List<HoldChange> changedHolds,
    List<UnitChange> units,
    Map<BuyerId, Integer> quotaDeltas,
    int buyerLimit,
    List<StockChange> audit,
    List<PoolChange> pools,
    List<CommandDecision<HoldOutcome>> decisions) {

  /** A hold's stored state before the batch, and its content after. */
  record HoldChange(HoldState before, Hold after) {}

  /**
   * A unit's change of owner; null means free.
   *
   * @param rank its place in the shuffle, to look it up next to its neighbours; null if it was not
   *     read
   */
  record UnitChange(
      PoolId pool,
      int unit,
      @Nullable Integer rank,
      @Nullable HoldId before,
      @Nullable HoldId after) {}

  /**
   * @param paused whether the pool was paused when it was read
   */
  record PoolChange(
      PoolCounts counts, boolean paused, int nextRank, long seqBefore, long seqAfter) {}
}
