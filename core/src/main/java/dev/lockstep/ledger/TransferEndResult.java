package dev.lockstep.ledger;

/** The outcome of {@link LedgerCommand.Post} or {@link LedgerCommand.VoidPending}. */
public sealed interface TransferEndResult extends LedgerOutcome
    permits LedgerOutcome.TransferDone,
        LedgerOutcome.LedgerOverloaded,
        LedgerOutcome.UnknownTransfer,
        LedgerOutcome.NotPending,
        LedgerOutcome.BeyondReserved,
        LedgerOutcome.BalanceOverflow {}
