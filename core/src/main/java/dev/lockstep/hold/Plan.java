package dev.lockstep.hold;

import dev.lockstep.hold.ScopeState.StoredHold;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a batch writes, and what it answers.
 *
 * @param now the clock of the batch
 * @param newHolds holds to insert, in their final state
 * @param changedHolds holds that are now as they say here
 * @param units units whose owner changed
 * @param quotaDeltas change of each buyer's use; never zero
 * @param buyerLimit what the guard of the quota compares with; 0 when the scope has no limit
 * @param audit the changes of stock in order
 * @param pools the pools' new counters
 * @param answers one a command, in their order
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
    List<Answer> answers) {

  /** A hold that was in one state as stored, and is as it says here after the batch. */
  record HoldChange(HoldState before, Hold after) {}

  /**
   * A unit goes from one owner to another; null: free.
   *
   * @param rank its place in the shuffle, by which it is found among its neighbours; null where it
   *     was not read
   */
  record UnitChange(
      PoolId pool,
      int unit,
      @Nullable Integer rank,
      @Nullable HoldId before,
      @Nullable HoldId after) {}

  /**
   * @param paused whether it was seen to be paused
   */
  record PoolChange(
      PoolCounts counts, boolean paused, int nextRank, long seqBefore, long seqAfter) {}

  /**
   * What a command is told.
   *
   * @param askAgain "sold out" or "limit reached" only as far as this batch could see: expired
   *     holds are still to be taken back, so the command must be decided again before anybody is
   *     told
   */
  record Answer(HoldOutcome outcome, boolean askAgain) {}
}
