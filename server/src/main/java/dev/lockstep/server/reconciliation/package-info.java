/**
 * Compares money with goods by value, and both with the provider's own lists: what changed, every
 * minute, by itself; everything, in short slices that go on for ever. What does not agree is kept
 * as a finding, counted by kind, until it agrees again; goods without money pause their campaign.
 *
 * <p>Owns {@code reconciliation_mark}, {@code reconciliation_finding} and {@code provider_look}.
 * Purchases, holds, books and draws are only read.
 */
@NullMarked
package dev.lockstep.server.reconciliation;

import org.jspecify.annotations.NullMarked;
