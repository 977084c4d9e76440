package dev.lockstep.ledger;

import java.time.Instant;
import java.util.List;

/**
 * What a batch writes, and what it answers.
 *
 * @param now the clock of the batch
 * @param newTransfers transfers to insert, in their final state
 * @param endedTransfers transfers that were pending and are now as they say here
 * @param entries the changes of accounts, in order
 * @param accounts the accounts' new figures
 * @param answers one a command, in their order
 */
record Plan(
    Instant now,
    List<Transfer> newTransfers,
    List<Transfer> endedTransfers,
    List<Entry> entries,
    List<AccountChange> accounts,
    List<Answer> answers) {

  record AccountChange(Account before, Account after) {}

  /**
   * What a command is told.
   *
   * @param askAgain refused only as far as this batch could see: transfers have expired whose money
   *     is still to be given back, so the command must be decided again before anybody is told
   */
  record Answer(LedgerOutcome outcome, boolean askAgain) {
    static Answer certain(LedgerOutcome outcome) {
      return new Answer(outcome, false);
    }
  }
}
