package dev.lockstep.hold;

/** The outcome of {@link HoldCommand.Return}. */
public sealed interface ReturnResult extends HoldOutcome
    permits HoldOutcome.Ended,
        HoldOutcome.UnknownHold,
        HoldOutcome.NotYours,
        HoldOutcome.NotSold,
        HoldOutcome.PartReturned,
        HoldOutcome.LinesDiffer,
        HoldOutcome.HoldsOverloaded {}
