/**
 * Campaigns of faults: real processes on a real database, faults at moments that a seed decides,
 * and every answer checked. docs/proof.md is the user's page.
 *
 * <p>Start with {@link dev.lockstep.prove.Campaign}; {@link dev.lockstep.prove.Prove} is the
 * command. A campaign is a series of rounds. Each round works with things of its own, so its
 * history is checked while the next round works. {@code work} is what clients do, {@code node} the
 * processes they talk to, {@code fault} what breaks, {@code history} and {@code check} the
 * judgement.
 *
 * <p>Owns no table of Lockstep's; as a fault it locks and rewrites the blocks' tables.
 */
@NullMarked
package dev.lockstep.prove;

import org.jspecify.annotations.NullMarked;
