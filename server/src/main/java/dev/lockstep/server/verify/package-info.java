/**
 * Recomputes a draw from its published document, as docs/draw.md describes it, for people who do
 * not trust the server. Needs neither server nor database, and shares no code with the package that
 * draws, so a mistake there shows up here. Owns no table.
 */
@NullMarked
package dev.lockstep.server.verify;

import org.jspecify.annotations.NullMarked;
