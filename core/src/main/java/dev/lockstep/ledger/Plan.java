package dev.lockstep.ledger;

import dev.lockstep.combine.CommandDecision;
import java.time.Instant;
import java.util.List;

/**
 * What a batch writes, and what it decided.
 *
 * @param now the batch's clock
 * @param newTransfers transfers to insert, in their final state
 * @param endedTransfers transfers that were pending, with their new content
 * @param entries the account changes, in order
 * @param accounts the accounts' new figures
 * @param decisions one per command, in the order of the commands; on the caller's connection none
 *     after the first that must be decided again
 */
record Plan(
    Instant now,
    List<Transfer> newTransfers,
    List<Transfer> endedTransfers,
    List<Entry> entries,
    List<AccountChange> accounts,
    List<CommandDecision<LedgerOutcome>> decisions) {

  record AccountChange(Account before, Account after) {}
}
