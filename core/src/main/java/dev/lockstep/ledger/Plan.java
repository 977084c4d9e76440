package dev.lockstep.ledger;

import java.time.Instant;
import java.util.List;

/**
 * What a batch writes, and its answers.
 *
 * @param now the batch's clock
 * @param newTransfers transfers to insert, in their final state
 * @param endedTransfers transfers that were pending, with their new content
 * @param entries the account changes, in order
 * @param accounts the accounts' new figures
 * @param answers one per command, in the order of the commands; on the caller's connection none
 *     after the first that must be decided again
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
   * The answer to a command.
   *
   * @param askAgain true for a provisional refusal: expired transfers still have to give money
   *     back, so the command must be decided again before its caller gets an answer
   */
  record Answer(LedgerOutcome outcome, boolean askAgain) {
    static Answer certain(LedgerOutcome outcome) {
      return new Answer(outcome, false);
    }
  }
}
