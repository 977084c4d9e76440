/**
 * Makes an effect happen once per idempotency key.
 *
 * <p>Entry type: {@link dev.lockstep.once.Once}; read its Javadoc first. It has three ways: {@code
 * call} runs your work and Lockstep commits; {@code claim} and {@code answer} take your connection
 * and you commit; {@code find} and {@code record} do the same for many keys at once. {@link
 * dev.lockstep.once.Claim} lists what a claim can find. {@code KeyRow} has the statements on one
 * key, {@code StoredKey} compares a row with a request.
 *
 * <p>Table owned: {@code once}, one row per key. States of a key:
 *
 * <pre>
 *   free ──claim──→ claimed ──answer──→ answered
 *     ↑                │                    │
 *     └── rolled back, expired ── expired ──┘
 * </pre>
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
