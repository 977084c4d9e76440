/**
 * The draw of a triangle: one per campaign, verifiable by anyone (docs/draw.md).
 *
 * <p>Owns {@code lockstep_server.draw}, whose primary key is the campaign, so that there can be
 * only one draw, and {@code lockstep_server.draw_gate}. The campaign package reads whether a
 * campaign is drawn.
 *
 * <p>The transaction that confirms the last position freezes the entrants, so a campaign sells out
 * and its list freezes in the same commit. Without a beacon that transaction also ranks the
 * winners; with one, a recurring task does so once the beacon's value is known. From then on the
 * seed is public.
 */
@NullMarked
package dev.lockstep.server.draw;

import org.jspecify.annotations.NullMarked;
