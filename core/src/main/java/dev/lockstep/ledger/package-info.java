/**
 * Moves money: accounts, transfers as double entries, transfers in two phases, statements, checks.
 *
 * <p>Start with {@link dev.lockstep.ledger.Ledger}, the entry type; {@link
 * dev.lockstep.ledger.LedgerCommand} lists what you can ask and {@link
 * dev.lockstep.ledger.LedgerOutcome} what you can get. docs/ledger.md is the user's guide, ADR 018
 * has the reasons. Then follow one batch through {@code LedgerOperation}:
 *
 * <ul>
 *   <li>Read: {@code StateReader} locks the accounts; {@code BookCache} replaces the read when it
 *       suffices.
 *   <li>Decide: {@code Decision} and {@code Books}, pure functions; every promise is made there.
 *   <li>Write: {@code PlanWriter}, whose statements guard themselves; then the {@link
 *       dev.lockstep.combine.Companion}s. A single move is one statement, {@code SingleTransfer}.
 * </ul>
 *
 * <p>Past balances are in {@code AsOf}, invariant checks in {@code LedgerCheck}.
 *
 * <p>Tables owned: {@code book}, {@code account}, {@code transfer}, {@code entry}, {@code
 * ledger_mark}.
 *
 * <p>States of a transfer: {@link dev.lockstep.ledger.TransferState}. PENDING goes to POSTED,
 * VOIDED or EXPIRED; a move is POSTED from the start.
 *
 * <p>Locks: account, ascending ({@link dev.lockstep.sql.LockOrder}). A transfer changes only under
 * the lock of the account it leaves.
 *
 * <p>Guarantees (docs/guarantees.md): one effect per transfer id (G3); transfers conserve money, no
 * balance falls below its floor, no deadlock (G9); every change of an account is an entry (G10).
 */
@NullMarked
package dev.lockstep.ledger;

import org.jspecify.annotations.NullMarked;
