/**
 * Compares money with goods by value, and both with the provider's lists: recent changes every
 * minute, and everything in short, endless slices. A disagreement is stored as a finding and
 * counted by kind until it agrees again. Goods without money pause their campaign.
 *
 * <p>Owns {@code reconciliation_mark}, {@code reconciliation_finding} and {@code provider_look}.
 * Only reads purchases, holds, books and draws. Read {@link
 * dev.lockstep.server.reconciliation.Look} first.
 */
@NullMarked
package dev.lockstep.server.reconciliation;

import org.jspecify.annotations.NullMarked;
