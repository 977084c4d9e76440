/**
 * Scarce things: pools of stock, holds on them, carts, buyers' limits, expiry and the stock audit.
 *
 * <p>Tables owned: {@code scope}, {@code pool}, {@code unit}, {@code hold}, {@code quota}, {@code
 * stock_audit}.
 *
 * <p>Guarantees (docs/guarantees.md): never oversold (G1), never undersold (G2), a buyer's limit
 * holds (G4), a hold ends exactly once (G5), every change is accounted for (G10); an {@code
 * acquire} with the same hold id has one effect (G3). Locks are taken in the order hold, pool,
 * unit, quota, each sorted by id; buyers by code point ({@link dev.lockstep.tx.LockOrder}).
 */
@NullMarked
package dev.lockstep.hold;

import org.jspecify.annotations.NullMarked;
