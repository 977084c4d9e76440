/**
 * Sale events: the stream {@code sales}, keyed by campaign.
 *
 * <p>Start with {@link dev.lockstep.server.saleevent.SaleEvents}, the only type. Owns no table. An
 * event is appended in the transaction that makes it true, so it exists if and only if the sale
 * does, and a campaign's events leave in commit order. Without a sink, nothing is appended. Locks:
 * the campaign's outbox key, after stock, purchases and accounts.
 */
@NullMarked
package dev.lockstep.server.saleevent;

import org.jspecify.annotations.NullMarked;
