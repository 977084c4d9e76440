package dev.lockstep.ledger;

/** The outcome of {@link LedgerCommand.Move} or {@link LedgerCommand.Reserve}. */
public sealed interface TransferResult extends LedgerOutcome
    permits LedgerOutcome.TransferDone,
        LedgerOutcome.LedgerOverloaded,
        LedgerOutcome.TransferIdReused,
        LedgerOutcome.UnknownAccount,
        LedgerOutcome.CurrencyMismatch,
        LedgerOutcome.InsufficientFunds,
        LedgerOutcome.BalanceOverflow {}
