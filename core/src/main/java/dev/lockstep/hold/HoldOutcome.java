package dev.lockstep.hold;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * What came of a command. When several would apply, the first in this list is given: {@link
 * Overloaded}, {@link HoldIdReused}, {@link UnknownHold}, {@link NotYours}, {@link Vetoed} (of a
 * hold that is held), {@link LinesDiffer}, a replayed {@link Granted} or {@link Ended}, {@link
 * HoldEnded}, {@link NotSold}, {@link UnknownPool}, {@link UnknownUnit}, {@link Paused}, {@link
 * LimitReached}, {@link SoldOut}, {@link ExtensionLimit}, {@link LifetimeReached}, and at last the
 * success. Of a hold that was given back, {@link HoldEnded} is told whatever it had.
 */
public sealed interface HoldOutcome
    permits AcquireResult,
        ChangeResult,
        ExtendResult,
        EndResult,
        ReturnResult,
        HoldOutcome.Granted,
        HoldOutcome.Ended,
        HoldOutcome.Overloaded,
        HoldOutcome.HoldIdReused,
        HoldOutcome.UnknownHold,
        HoldOutcome.NotYours,
        HoldOutcome.Vetoed,
        HoldOutcome.LinesDiffer,
        HoldOutcome.HoldEnded,
        HoldOutcome.NotSold,
        HoldOutcome.UnknownPool,
        HoldOutcome.UnknownUnit,
        HoldOutcome.ExtensionLimit,
        HoldOutcome.Paused,
        HoldOutcome.LimitReached,
        HoldOutcome.SoldOut,
        HoldOutcome.LifetimeReached {

  /**
   * The hold is taken, changed or extended.
   *
   * @param replayed this very command had been granted before; nothing was changed now
   */
  record Granted(Hold hold, boolean replayed)
      implements HoldOutcome, AcquireResult, ChangeResult, ExtendResult {}

  /**
   * The hold was ended as asked.
   *
   * @param replayed it had already been ended in the same way; nothing was changed now
   * @param pools the counts of the hold's pools right after, so that the last sale can be acted
   *     upon
   */
  record Ended(Hold hold, boolean replayed, List<PoolCounts> pools)
      implements HoldOutcome, EndResult, ReturnResult {}

  /** Too many requests are waiting; nothing was done. */
  record Overloaded(Duration retryAfter)
      implements HoldOutcome, AcquireResult, ChangeResult, ExtendResult, EndResult, ReturnResult {}

  /** The id belongs to a hold with another buyer or other lines. */
  record HoldIdReused(HoldId hold) implements HoldOutcome, AcquireResult {}

  record UnknownHold(HoldId hold)
      implements HoldOutcome, ChangeResult, ExtendResult, EndResult, ReturnResult {}

  /** The hold belongs to another buyer than the one who asks. */
  record NotYours(HoldId hold)
      implements HoldOutcome, ChangeResult, ExtendResult, EndResult, ReturnResult {}

  /** The command's {@link Veto} keeps the hold as it is. Nothing was changed. */
  record Vetoed(Hold hold) implements HoldOutcome, ChangeResult, ExtendResult, EndResult {}

  /** The hold has other lines than those it was to be sold for; nothing was sold now. */
  record LinesDiffer(Hold hold) implements HoldOutcome, EndResult {}

  /** The hold has ended otherwise; it says how, when and by whom. */
  record HoldEnded(Hold hold) implements HoldOutcome, ChangeResult, ExtendResult, EndResult {}

  /** There is nothing to take back: the hold is held still, or was given back before a sale. */
  record NotSold(Hold hold) implements HoldOutcome, ReturnResult {}

  record UnknownPool(PoolId pool) implements HoldOutcome, AcquireResult, ChangeResult {}

  /** The pool has no such unit, or is a counted pool, which has none. */
  record UnknownUnit(PoolId pool, int unit) implements HoldOutcome, AcquireResult, ChangeResult {}

  /** The pool is paused; nobody can take from it until it is resumed. */
  record Paused(PoolId pool, String reason) implements HoldOutcome, AcquireResult, ChangeResult {}

  /**
   * The buyer's limit would be passed.
   *
   * @param used what the buyer has in live holds now
   */
  record LimitReached(int limit, int used, int asked)
      implements HoldOutcome, AcquireResult, ChangeResult {}

  /** Not enough is free, in every pool that lacks. Nothing was taken from any. */
  record SoldOut(List<Shortage> shortages) implements HoldOutcome, AcquireResult, ChangeResult {}

  /**
   * The bound of the caller does not allow it: the hold was extended as often as it says, or the
   * time asked for is longer. Nothing was changed.
   */
  record ExtensionLimit(Hold hold, ExtensionBound bound) implements HoldOutcome, ExtendResult {}

  /** The hold cannot last longer than this. */
  record LifetimeReached(Hold hold, Instant latest) implements HoldOutcome, ExtendResult {}

  /**
   * A pool that lacks.
   *
   * @param free what could have been had
   */
  record Shortage(PoolId pool, int asked, int free) {}
}
