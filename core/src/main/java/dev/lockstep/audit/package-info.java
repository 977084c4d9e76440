/**
 * Checks the invariants of the stock: records that must always agree are compared, and a pool where
 * they do not is paused.
 *
 * <p>Start with {@link dev.lockstep.audit.Audit}, the entry type. {@link
 * dev.lockstep.audit.Violation.Check} lists the invariants. Then read:
 *
 * <ul>
 *   <li>{@code ScopeCheck}: a small scope, in one snapshot.
 *   <li>{@code LargeScope}: a large one, in slices; {@code ChainSlices} reads its audit rows,
 *       {@code UnitSlices} its units, {@code HoldSlices} its holds and quotas while they change.
 * </ul>
 *
 * <p>Table owned: {@code audit_mark}, how far each pool was checked. The tables of the hold block
 * are only read; {@link dev.lockstep.audit.PoolPauser} is the only way back to it.
 *
 * <p>States of a pool's mark: none (never checked), a sequence number (sound up to there), or
 * broken (checked from the start until repaired).
 *
 * <p>Locks: rows of {@code audit_mark} only, in pool order; none from the lock order in
 * CONTRIBUTING.md.
 *
 * <p>Guarantee (G10, docs/guarantees.md): counters, live holds, units, quotas and the audit chain
 * agree; a pool where they do not is paused with the reason.
 */
@NullMarked
package dev.lockstep.audit;

import org.jspecify.annotations.NullMarked;
