package dev.lockstep.ledger;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * What the locked accounts said: everything a batch's decisions rest on.
 *
 * @param now the database's clock when the accounts were locked, and not before any of their
 *     entries
 * @param accounts the accounts the commands name or lead to; those that exist
 * @param transfers the transfers the commands name, and the expired ones
 * @param expired transfers out of these accounts whose time is up, soonest expired first
 * @param moreExpired there are more of them than were read
 */
record LedgerState(
    Instant now,
    Map<AccountId, Account> accounts,
    Map<TransferId, Transfer> transfers,
    List<TransferId> expired,
    boolean moreExpired) {

  /** Nothing but a time. */
  static LedgerState unseen(Instant now) {
    return new LedgerState(now, Map.of(), Map.of(), List.of(), false);
  }
}
