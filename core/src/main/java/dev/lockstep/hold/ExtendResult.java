package dev.lockstep.hold;

/** The outcome of {@link HoldCommand.Extend}. */
public sealed interface ExtendResult extends HoldOutcome
    permits HoldOutcome.Granted,
        HoldOutcome.UnknownHold,
        HoldOutcome.NotYours,
        HoldOutcome.Vetoed,
        HoldOutcome.HoldEnded,
        HoldOutcome.ExtensionLimit,
        HoldOutcome.LifetimeReached,
        HoldOutcome.HoldsOverloaded {}
