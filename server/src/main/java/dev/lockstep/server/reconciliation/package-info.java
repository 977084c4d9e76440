/**
 * Compares money with goods by value, and both with the provider's lists: recent changes every
 * minute, and everything in short slices, over and over. A disagreement is stored as a finding and
 * counted by kind until it agrees again. Goods without money pause their campaign.
 *
 * <p>Read {@link dev.lockstep.server.reconciliation.Reconciliation} first, then {@code Look} (our
 * own records) and {@code ProviderLook} (the provider's lists). {@code Judgement}, a pure function,
 * decides what disagrees; {@code FindingKind} lists the ways.
 *
 * <p>Owns {@code reconciliation_mark}, {@code reconciliation_finding} and {@code provider_look}.
 * Only reads purchases, holds, books and draws, in snapshots, and locks none of them.
 */
@NullMarked
package dev.lockstep.server.reconciliation;

import org.jspecify.annotations.NullMarked;
