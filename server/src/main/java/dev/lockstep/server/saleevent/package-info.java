/**
 * Sale events: the stream {@code sales}, keyed by campaign.
 *
 * <p>Owns no table. An event is appended in the transaction that makes it true, so it exists if and
 * only if the sale does, and a campaign's events leave in commit order. Without a sink, nothing is
 * appended.
 */
@NullMarked
package dev.lockstep.server.saleevent;

import org.jspecify.annotations.NullMarked;
