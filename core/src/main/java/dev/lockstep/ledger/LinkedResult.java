package dev.lockstep.ledger;

/** The outcome of {@link LedgerCommand.Linked}. */
public sealed interface LinkedResult extends LedgerOutcome
    permits LedgerOutcome.AllDone, LedgerOutcome.Refused, LedgerOutcome.LedgerOverloaded {}
