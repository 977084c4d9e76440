/**
 * The draw of a triangle: one a campaign, and anyone can verify it (docs/draw.md).
 *
 * <p>Tables owned: {@code lockstep_server.draw} (its primary key is the campaign: inserting the row
 * is what makes a draw the only one) and {@code lockstep_server.draw_gate}. The campaign package
 * reads whether a campaign is drawn.
 *
 * <p>The transaction that confirms the last position freezes the entrants, so a campaign is sold
 * out and its list frozen in the same instant, or neither. Without a beacon it also ranks the
 * winners; with one, a loop does so when the beacon has spoken. The seed is shown from then on.
 */
@NullMarked
package dev.lockstep.server.draw;

import org.jspecify.annotations.NullMarked;
