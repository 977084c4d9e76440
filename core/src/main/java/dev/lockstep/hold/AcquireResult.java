package dev.lockstep.hold;

/** The outcome of {@link HoldCommand.Acquire}. */
public sealed interface AcquireResult extends HoldOutcome
    permits HoldOutcome.Granted,
        HoldOutcome.HoldIdReused,
        HoldOutcome.UnknownPool,
        HoldOutcome.UnknownUnit,
        HoldOutcome.Paused,
        HoldOutcome.LimitReached,
        HoldOutcome.SoldOut,
        HoldOutcome.HoldsOverloaded {}
