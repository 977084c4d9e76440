package dev.lockstep.hold;

/** What came of {@link HoldCommand.Return}. */
public sealed interface ReturnResult extends HoldOutcome
    permits HoldOutcome.Ended,
        HoldOutcome.UnknownHold,
        HoldOutcome.NotYours,
        HoldOutcome.NotSold,
        HoldOutcome.Overloaded {}
