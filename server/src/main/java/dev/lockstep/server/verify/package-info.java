/**
 * Recomputes a draw from its published document, as docs/draw.md describes it, for people who do
 * not trust the server.
 *
 * <p>Start with {@link dev.lockstep.server.verify.DrawVerifier}. Needs neither server nor database,
 * and shares no code with the package that draws, so a mistake there shows up here. Owns no table
 * and locks nothing.
 */
@NullMarked
package dev.lockstep.server.verify;

import org.jspecify.annotations.NullMarked;
