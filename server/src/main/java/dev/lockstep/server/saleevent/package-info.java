/**
 * What happens in sales, told to whoever listens: the stream {@code sales}, keyed by campaign.
 *
 * <p>Owns no table. An event is appended in the transaction that makes it true, so it is there if
 * and only if the sale is, and a campaign's events leave in the order of their commits. As long as
 * the stream has no sink nothing is appended.
 */
@NullMarked
package dev.lockstep.server.saleevent;

import org.jspecify.annotations.NullMarked;
