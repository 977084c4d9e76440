/**
 * Makes an effect happen once per idempotency key.
 *
 * <p>Start with {@link dev.lockstep.once.Once}, the entry type: its Javadoc shows the three ways to
 * use it (on your connection, in its own transaction, in bulk). {@link dev.lockstep.once.Claim}
 * lists what a claim can find. {@code KeyRow} has the statements on a single key.
 *
 * <p>Table owned: {@code once}.
 *
 * <p>States of a key: free, claimed (no answer yet), answered. A claimed or answered key is free
 * again when it expires; a claim is also undone by a rollback.
 *
 * <p>Locks: once, the key's row, before any other lock ({@link dev.lockstep.sql.LockOrder}). Keys
 * recorded in bulk are sorted and come later (ADR 002 says why).
 *
 * <p>Guarantee (G3, docs/guarantees.md): the key's row is written in the transaction of its effect,
 * so both exist or neither does. If the same request comes several times at once, one runs; the
 * others wait for its answer or get InUse. The same key with the same request gets the first
 * answer; with another request it is refused.
 */
@NullMarked
package dev.lockstep.once;

import org.jspecify.annotations.NullMarked;
