package dev.lockstep.hold;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * The outcome of a command. If several apply, the first in this list is given: {@link
 * HoldsOverloaded}, {@link HoldIdReused}, {@link UnknownHold}, {@link NotYours}, {@link Vetoed}
 * (for a held hold), {@link LinesDiffer}, a replayed acquire's {@link Granted} or a replayed {@link
 * Ended}, {@link HoldEnded}, {@link NotSold}, {@link UnknownPool}, {@link UnknownUnit}, {@link
 * Paused}, {@link LimitReached}, {@link SoldOut}, {@link ExtensionLimit}, {@link LifetimeReached},
 * and finally the success. {@link LinesDiffer} applies only to confirming a held or sold hold and
 * to returning a sold one.
 */
public sealed interface HoldOutcome
    permits AcquireResult,
        HoldChangeResult,
        ExtendResult,
        HoldEndResult,
        ReturnResult,
        HoldOutcome.Granted,
        HoldOutcome.Ended,
        HoldOutcome.HoldsOverloaded,
        HoldOutcome.HoldIdReused,
        HoldOutcome.UnknownHold,
        HoldOutcome.NotYours,
        HoldOutcome.Vetoed,
        HoldOutcome.LinesDiffer,
        HoldOutcome.HoldEnded,
        HoldOutcome.NotSold,
        HoldOutcome.PartReturned,
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
   * @param replayed nothing changed now: the same acquire was granted before, or the hold already
   *     lasts that long
   */
  record Granted(Hold hold, boolean replayed)
      implements HoldOutcome, AcquireResult, HoldChangeResult, ExtendResult {}

  /**
   * The hold ended as asked.
   *
   * @param replayed nothing changed now: the hold had already ended in the same way
   * @param pools the counts of the hold's pools right after, so that a caller can act on the last
   *     sale
   */
  record Ended(Hold hold, boolean replayed, List<PoolCounts> pools)
      implements HoldOutcome, HoldEndResult, ReturnResult {}

  /** Too many requests wait; nothing was changed. */
  record HoldsOverloaded(Duration retryAfter)
      implements HoldOutcome,
          AcquireResult,
          HoldChangeResult,
          ExtendResult,
          HoldEndResult,
          ReturnResult {}

  /** The id belongs to a hold with another buyer or other lines. */
  record HoldIdReused(HoldId hold) implements HoldOutcome, AcquireResult {}

  record UnknownHold(HoldId hold)
      implements HoldOutcome, HoldChangeResult, ExtendResult, HoldEndResult, ReturnResult {}

  /** The actor may not touch this buyer's hold. */
  record NotYours(HoldId hold)
      implements HoldOutcome, HoldChangeResult, ExtendResult, HoldEndResult, ReturnResult {}

  /** The command's {@link Veto} refused it. Nothing was changed. */
  record Vetoed(Hold hold) implements HoldOutcome, HoldChangeResult, ExtendResult, HoldEndResult {}

  /**
   * The hold has other lines than the confirm expects, or does not have the part to return; nothing
   * was changed.
   */
  record LinesDiffer(Hold hold) implements HoldOutcome, HoldEndResult, ReturnResult {}

  /** The hold has ended in another way; it says how, when and by which actor. */
  record HoldEnded(Hold hold)
      implements HoldOutcome, HoldChangeResult, ExtendResult, HoldEndResult {}

  /**
   * There is nothing to return: the hold is still held, or was released or expired without a sale.
   */
  record NotSold(Hold hold) implements HoldOutcome, ReturnResult {}

  /**
   * A part of a sold hold came back; the rest stays sold.
   *
   * @param hold with the lines that are left
   */
  record PartReturned(Hold hold, List<HeldLine> returned) implements HoldOutcome, ReturnResult {
    public PartReturned {
      returned = List.copyOf(returned);
    }
  }

  record UnknownPool(PoolId pool) implements HoldOutcome, AcquireResult, HoldChangeResult {}

  /** The pool has no such unit, or is a counted pool, which has none. */
  record UnknownUnit(PoolId pool, int unit)
      implements HoldOutcome, AcquireResult, HoldChangeResult {}

  /** The pool is paused; nothing can be taken from it until it is resumed. */
  record Paused(PoolId pool, String reason)
      implements HoldOutcome, AcquireResult, HoldChangeResult {}

  /**
   * The command would exceed the buyer's limit.
   *
   * @param used what the buyer has in live holds now
   * @param asked how much more the command takes
   */
  record LimitReached(int limit, int used, int asked)
      implements HoldOutcome, AcquireResult, HoldChangeResult {}

  /** Too little is free in the named pools. Nothing was taken from any pool. */
  record SoldOut(List<Shortage> shortages)
      implements HoldOutcome, AcquireResult, HoldChangeResult {}

  /**
   * The caller's bound refuses the extension: the hold was extended as often as allowed, or the
   * requested time is too long. Nothing was changed.
   */
  record ExtensionLimit(Hold hold, ExtensionBound bound) implements HoldOutcome, ExtendResult {}

  /** The hold cannot last longer than {@code latest}. */
  record LifetimeReached(Hold hold, Instant latest) implements HoldOutcome, ExtendResult {}

  /**
   * A pool with too little free.
   *
   * @param free what the command could have had
   */
  record Shortage(PoolId pool, int asked, int free) {}
}
