package dev.lockstep.hold;

/** The outcome of {@link HoldCommand.Confirm} or {@link HoldCommand.Release}. */
public sealed interface HoldEndResult extends HoldOutcome
    permits HoldOutcome.Ended,
        HoldOutcome.UnknownHold,
        HoldOutcome.NotYours,
        HoldOutcome.Vetoed,
        HoldOutcome.LinesDiffer,
        HoldOutcome.HoldEnded,
        HoldOutcome.HoldsOverloaded {}
