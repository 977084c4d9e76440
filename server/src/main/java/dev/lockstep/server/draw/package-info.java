/**
 * The draw of a triangle: one per campaign, verifiable by anyone (docs/draw.md).
 *
 * <p>Start with {@link dev.lockstep.server.draw.Draws}; {@code EntrantList} is the frozen list and
 * its hash, {@code Ranking} the winners as a pure function, {@code DrawTable} the statements.
 *
 * <p>Owns {@code lockstep_server.draw}, whose primary key is the campaign, so that there can be
 * only one draw, and {@code lockstep_server.draw_gate}. The campaign package reads whether a
 * campaign is drawn.
 *
 * <p>States of a draw: none, frozen (with a beacon only), drawn. The transaction that confirms the
 * last position freezes the entrants, so a campaign sells out and its list freezes in the same
 * commit. Without a beacon that transaction also ranks the winners; with one, a recurring job does
 * so once the beacon's value is known. From then on the seed is public.
 *
 * <p>Locks: a sale's transaction inserts the draw last, after stock, purchases, accounts and the
 * event's key. Refunds and the last sale meet at the campaign's row of {@code draw_gate}.
 */
@NullMarked
package dev.lockstep.server.draw;

import org.jspecify.annotations.NullMarked;
