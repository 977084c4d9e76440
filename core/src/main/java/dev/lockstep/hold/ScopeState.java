package dev.lockstep.hold;

import dev.lockstep.hold.Plan.PoolChange;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the locked rows of a scope said: everything a batch's decisions rest on.
 *
 * @param now the database's clock, read once for the batch
 * @param buyerLimit empty: no limit
 * @param holds the holds the commands name, and the expired ones
 * @param expired what can be taken back before anything else, soonest expired first
 * @param moreExpired there are further expired holds that this batch could not lock
 * @param used what each buyer has in live holds; only buyers that have a quota row
 * @param units free units a pool can give, in the order it gives them
 * @param named the units commands ask for by name
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

  /** A hold row with the fingerprint of what was first asked for. */
  record StoredHold(Hold hold, long fingerprint) {}

  record PoolRow(
      PoolCounts counts,
      boolean hasUnits,
      @Nullable String pauseReason,
      int nextRank,
      long auditSeq) {

    /** As a change leaves it. */
    PoolRow after(PoolChange change) {
      return new PoolRow(
          change.counts(), hasUnits, pauseReason, change.nextRank(), change.seqAfter());
    }
  }

  record UnitRow(int unit, int rank, boolean returned, @Nullable UUID hold) {}
}
