package dev.lockstep.hold;

import dev.lockstep.hold.Plan.PoolChange;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The state of a scope that a batch's decisions rest on, as read from its rows or remembered.
 *
 * @param now the batch's time on the database's clock
 * @param buyerLimit empty if there is no limit
 * @param holds the holds that commands name, and the expired ones
 * @param expired holds to take back before anything else, soonest expired first
 * @param moreExpired further holds have expired that this batch does not take back
 * @param used what each buyer has in live holds; only buyers with a quota row
 * @param units free units that a pool can give, in the order it gives them
 * @param named the units that commands ask for by name
 */
record ScopeState(
    Instant now,
    OptionalInt buyerLimit,
    Map<HoldId, StoredHold> holds,
    List<HoldId> expired,
    boolean moreExpired,
    Map<BuyerId, Integer> used,
    Map<PoolId, PoolRow> pools,
    Map<PoolId, List<UnitRow>> units,
    Map<PoolId, Map<Integer, UnitRow>> named) {

  /** A hold row with the fingerprint of the original acquire. */
  record StoredHold(Hold hold, long fingerprint) {}

  record PoolRow(
      PoolCounts counts,
      boolean hasUnits,
      @Nullable String pauseReason,
      int nextRank,
      long auditSeq) {

    /** The row after the change. */
    PoolRow after(PoolChange change) {
      return new PoolRow(
          change.counts(), hasUnits, pauseReason, change.nextRank(), change.seqAfter());
    }
  }

  record UnitRow(int unit, int rank, boolean returned, @Nullable UUID hold) {}
}
