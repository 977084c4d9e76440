/**
 * Campaigns of faults: real processes on a real database, everything that can break broken at
 * moments that a seed decides, and every answer checked.
 *
 * <p>Start with {@link dev.lockstep.prove.Campaign}; {@link dev.lockstep.prove.Prove} is the
 * command. A campaign is a row of rounds. Each round works with things of its own, so its history
 * is checked when the round is over.
 */
@NullMarked
package dev.lockstep.prove;

import org.jspecify.annotations.NullMarked;
