package dev.lockstep.ledger;

/** The outcome of {@link LedgerCommand.Move} or {@link LedgerCommand.Reserve}. */
public sealed interface TransferResult extends LedgerOutcome
    permits LedgerOutcome.Done,
        LedgerOutcome.Overloaded,
        LedgerOutcome.TransferIdReused,
        LedgerOutcome.UnknownAccount,
        LedgerOutcome.CurrencyMismatch,
        LedgerOutcome.InsufficientFunds,
        LedgerOutcome.BalanceOverflow {}
