/**
 * Invariants of the stock: records that must always agree, compared in one snapshot, or in slices
 * where a scope is large.
 *
 * <p>Table owned: {@code audit_mark}. The tables of other blocks are only read.
 *
 * <p>Guarantee (G10, docs/guarantees.md): counters, live holds, units, quotas and the audit chain
 * tell the same story; a pool where they do not is paused with the reason.
 */
@NullMarked
package dev.lockstep.audit;

import org.jspecify.annotations.NullMarked;
