package dev.lockstep.ledger;

/** The outcome of {@link LedgerCommand.Post} or {@link LedgerCommand.Cancel}. */
public sealed interface EndResult extends LedgerOutcome
    permits LedgerOutcome.Done,
        LedgerOutcome.Overloaded,
        LedgerOutcome.UnknownTransfer,
        LedgerOutcome.NotPending,
        LedgerOutcome.BeyondReserved,
        LedgerOutcome.BalanceOverflow {}
