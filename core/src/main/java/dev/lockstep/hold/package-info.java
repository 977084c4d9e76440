/**
 * Sells scarce stock: pools, holds on them, carts, buyers' limits, expiry and the stock audit.
 *
 * <p>Start with {@link dev.lockstep.hold.Holds}, the entry type; {@link
 * dev.lockstep.hold.HoldCommand} lists what you can ask and {@link dev.lockstep.hold.HoldOutcome}
 * what you can get. docs/holds.md is the user's guide, ADR 006 has the reasons. Then follow one
 * batch through {@code HoldOperation}:
 *
 * <ul>
 *   <li>Read: {@code StateReader} locks the rows; {@code AcquireReader} does it for acquires alone;
 *       {@code ScopeMemory} replaces the read when nothing has changed.
 *   <li>Decide: {@code Decision} and {@code Stock}, pure functions; every promise is made there.
 *   <li>Write: {@code PlanWriter}, whose statements guard themselves; then the {@link
 *       dev.lockstep.hold.Companion}s.
 * </ul>
 *
 * <p>Tables owned: {@code scope}, {@code pool}, {@code unit}, {@code hold}, {@code quota}, {@code
 * stock_audit}.
 *
 * <p>States of a hold: {@link dev.lockstep.hold.HoldState}. HELD goes to SOLD, RELEASED or EXPIRED;
 * SOLD may go to RETURNED.
 *
 * <p>Locks: see the lock order in CONTRIBUTING.md. This package locks each kind sorted by id,
 * buyers by code point ({@link dev.lockstep.sql.LockOrder}); a pool's lock covers its units.
 *
 * <p>Guarantees (docs/guarantees.md): never oversold (G1), never undersold (G2), one effect per
 * hold id (G3), a buyer's limit holds (G4), a hold ends exactly once (G5), every change is
 * accounted for (G10).
 */
@NullMarked
package dev.lockstep.hold;

import org.jspecify.annotations.NullMarked;
