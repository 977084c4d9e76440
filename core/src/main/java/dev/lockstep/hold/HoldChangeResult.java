package dev.lockstep.hold;

/** The outcome of {@link HoldCommand.Change}. */
public sealed interface HoldChangeResult extends HoldOutcome
    permits HoldOutcome.Granted,
        HoldOutcome.UnknownHold,
        HoldOutcome.NotYours,
        HoldOutcome.Vetoed,
        HoldOutcome.HoldEnded,
        HoldOutcome.UnknownPool,
        HoldOutcome.UnknownUnit,
        HoldOutcome.Paused,
        HoldOutcome.LimitReached,
        HoldOutcome.SoldOut,
        HoldOutcome.HoldsOverloaded {}
