/**
 * Money: accounts, transfers between them as double entries, transfers in two phases, statements.
 *
 * <p>Tables owned: {@code book}, {@code account}, {@code transfer}, {@code entry}, {@code
 * ledger_mark}.
 *
 * <p>Guarantees (docs/guarantees.md): transfers conserve money, no balance falls below its floor,
 * no deadlock (G9); every change of an account is an entry that says what it left (G10); a command
 * with the same transfer id has one effect (G3). The only rows locked are accounts, ascending: a
 * transfer changes only under the lock of the account it leaves.
 */
@NullMarked
package dev.lockstep.ledger;

import org.jspecify.annotations.NullMarked;
