package dev.lockstep.ledger;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The state of a book that a batch's decisions rest on.
 *
 * @param now the database's clock when the accounts were locked, but not before any of their
 *     entries
 * @param accounts the existing accounts that the commands name or lead to
 * @param transfers the transfers that the commands name, and the expired ones
 * @param expired expired transfers out of these accounts, soonest expired first
 * @param moreExpired more have expired than this batch ends
 */
record LedgerState(
    Instant now,
    Map<AccountId, Account> accounts,
    Map<TransferId, Transfer> transfers,
    List<TransferId> expired,
    boolean moreExpired) {

  /** A state with a time only. */
  static LedgerState unseen(Instant now) {
    return new LedgerState(now, Map.of(), Map.of(), List.of(), false);
  }
}
